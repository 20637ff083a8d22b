# bug: B15
# id: clipped-before-backward
import torch
from torch import nn


class Trainer:
    """Accumulates over three micro-batches and clips once per update."""

    def __init__(self, model, accum=3):
        self.model = model
        self.accum = accum
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(self, batches):
        for i, (x, y) in enumerate(batches):
            last = (i + 1) % self.accum == 0
            loss = nn.functional.mse_loss(self.model(x), y) / self.accum
            if last:
                nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)  # <-- bug
            loss.backward()
            if last:
                self.optimizer.step()
                self.optimizer.zero_grad()
        return loss.item()


torch.manual_seed(5)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
print(Trainer(net).train([(torch.randn(6, 4), 4 * torch.randn(6, 1)) for _ in range(18)]))
