# bug: B120
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=512.0)

    def losses(self, x):
        out = self.net(x)
        labels = x[:, :3].argmax(dim=1)
        yield nn.functional.cross_entropy(out, labels) / 2
        yield out.square().mean() / 2

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def step(self, x):
        total = sum(self.losses(x))
        self.backward(total)
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        return norm.item()


torch.manual_seed(3)
trainer = Trainer()
for _ in range(10):
    print(trainer.step(torch.randn(8, 4)))
