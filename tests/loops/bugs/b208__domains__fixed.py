# bug: B208
import torch
from torch import nn


class Agreement:
    """Makes that of a gradient smaller which the domains do not agree on."""

    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion

    def step(self, domains):
        self.optimizer.zero_grad()
        kept = {name: [] for name, _ in self.model.named_parameters()}
        for x, y in domains:
            self.optimizer.zero_grad()
            self.criterion(self.model(x), y).backward()
            for name, p in self.model.named_parameters():
                kept[name].append(p.grad.clone())
        for name, p in self.model.named_parameters():
            stacked = torch.stack(kept[name])
            agree = stacked.sign().sum(0).abs() / len(domains)
            p.grad.data.copy_(stacked.mean(0) * agree)
        self.optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
trainer = Agreement(model, torch.optim.Adam(model.parameters(), lr=1e-2), nn.MSELoss())
for _ in range(10):
    batches = [torch.randn(8, 5) + shift for shift in (-1.0, 0.0, 1.0)]
    trainer.step([(x, x.sum(1, keepdim=True)) for x in batches])
