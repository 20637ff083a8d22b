# bug: B90
# id: summand-without-graph
import torch
from torch import nn


class Trainer:
    def __init__(self, model, weight=1e-2):
        self.model, self.weight = model, weight
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.start = [p.detach().clone() for p in model.parameters()]

    def drift(self):
        return sum((p - s).pow(2).sum() for p, s in zip(self.model.parameters(), self.start, strict=True))

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        drift = self.drift().item()  # <-- bug
        loss += self.weight * drift
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), drift


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1)))
for step in range(12):
    x = torch.randn(16, 5)
    total, drift = trainer.step(x, x[:, :1])
    if step % 4 == 3:
        print(f"{step} loss {total:.3f} drift {drift:.4f}")
