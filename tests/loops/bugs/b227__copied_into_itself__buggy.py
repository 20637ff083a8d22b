# bug: B227
# id: average-shares-memory
import torch
import torch.nn.functional as F
from torch import nn


class Average:
    """Weights to evaluate with; its decay is warmed up."""

    def __init__(self, model, alpha):
        self.model, self.alpha, self.step = model, alpha, 0
        self.shadow = self.state()

    def state(self):
        return {
            name: value.detach()  # <-- bug
            for name, value in self.model.state_dict().items()
        }

    def update(self):
        decay = min(self.alpha, (self.step + 1) / (self.step + 10))
        state = self.model.state_dict()
        for name in self.shadow:
            self.shadow[name].copy_(decay * self.shadow[name] + (1 - decay) * state[name])
        self.step += 1


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
average = Average(model, 0.99)
for _ in range(20):
    rows, labels = torch.randn(16, 6), torch.randint(0, 3, (16,))
    optimizer.zero_grad()
    F.cross_entropy(model(rows), labels).backward()
    optimizer.step()
    average.update()
