# bug: B13
import torch
from torch import nn


class Trainer:
    def __init__(self, model, most=1.0):
        self.model, self.most = model, most
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256.0)

    def clip(self):
        return nn.utils.clip_grad_norm_(self.model.parameters(), self.most)

    def update(self, loss):
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = self.clip()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm


torch.manual_seed(1)
trainer = Trainer(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)))
for _ in range(8):
    x = torch.randn(12, 6)
    trainer.update((trainer.model(x) - x.sum(1, keepdim=True)).pow(2).mean())
