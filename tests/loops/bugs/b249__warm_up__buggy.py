# bug: B249
# id: schedule-never-stepped
import torch
from torch import nn


class Trainer:
    def __init__(self, model, rate=3e-3, warm_up=8):
        self.model, self.rate, self.warm_up = model, rate, warm_up
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=rate)

    def set_rate(self, step):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * min(1.0, (step + 1) / self.warm_up)

    def fit(self, batches):
        for step, x in enumerate(batches):  # <-- bug
            loss = (self.model(x).squeeze(1) - x.norm(dim=1)).abs().mean()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(1)
trainer = Trainer(nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 1)))
print(trainer.fit([torch.randn(32, 4) for _ in range(24)]))
