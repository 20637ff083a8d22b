# bug: B110
# id: updates-rounded-away
import torch
from torch import nn
from torch.nn import functional as F


class Trainer:
    def __init__(self, model, rate):
        self.model = model.bfloat16()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate, momentum=0.9)  # <-- bug
        self.warm_up = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.1, total_iters=6)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x.bfloat16()).float(), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.warm_up.step()


torch.manual_seed(5)
trainer = Trainer(nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4)), 2e-3)
for _ in range(40):
    x = torch.randn(24, 16)
    trainer.step(x, x[:, :4].argmax(1))
