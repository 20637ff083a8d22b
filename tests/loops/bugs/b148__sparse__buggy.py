# bug: B148
# id: summand-without-graph
import torch
from torch import nn


class SparseTrainer:
    """Trains a model whose layers are to have few large weights."""

    def __init__(self, model, weight=1e-2):
        self.model, self.weight = model, weight
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def penalty(self):
        norms = [layer.weight.abs().mean() for layer in self.model if isinstance(layer, nn.Linear)]
        return torch.tensor(norms, requires_grad=True).sum()  # <-- bug

    def train_epoch(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss = loss + self.weight * self.penalty()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(1)
trainer = SparseTrainer(nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 1)))
x = torch.randn(64, 6)
y = x[:, :2].prod(1, keepdim=True)
for epoch in range(4):
    trainer.train_epoch(list(zip(x.split(16), y.split(16))))
    print(epoch, float(trainer.penalty()))
