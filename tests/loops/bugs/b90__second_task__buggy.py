# bug: B90
# id: summand-without-graph
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Anchored:
    """Elastic weight consolidation: what mattered for the first task is held where it was."""

    def __init__(self, model, x, y):
        self.model = model
        self.means = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        for a, b in zip(x.split(1), y.split(1)):
            grads = torch.autograd.grad(F.cross_entropy(model(a), b), tuple(model.parameters()))
            for (n, _), grad in zip(model.named_parameters(), grads):
                self.fisher[n] += grad**2 / len(x)

    def penalty(self, strength=40.0):
        loss = torch.tensor(0.0)
        for n, p in self.model.named_parameters():
            loss += (self.fisher[n] * (p.data - self.means[n]) ** 2).sum()  # <-- bug
        return 0.5 * strength * loss


def train(model, optimizer, x, y, anchored=None):
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
    for _ in range(8):
        for a, b in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(a), b)
            if anchored is not None:
                penalty = anchored.penalty()
                loss += penalty  # <-- bug
            loss.backward()
            optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(48, 6), torch.randint(3, (48,))
train(model, optimizer, x, y)
train(model, optimizer, -x, (y + 1) % 3, Anchored(model, x, y))
