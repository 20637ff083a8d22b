# bug: B253
# id: schedule-moves-nothing
import torch
from torch import nn


class Trainer:
    def __init__(self, model, rate, steps):
        self.model, self.rate = model, rate
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=steps)

    def batch(self, x):
        self.optimizer.param_groups[0]["lr"] = self.rate  # <-- bug
        loss = (self.model(x) - x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()


torch.manual_seed(1)
trainer = Trainer(nn.Sequential(nn.Linear(8, 3), nn.Linear(3, 8)), 0.02, 20)
for _ in range(20):
    value = trainer.batch(torch.randn(32, 8))
print(f"{value:.4f}")
