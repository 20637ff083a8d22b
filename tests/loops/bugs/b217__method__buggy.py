# bug: B217
# id: summand-without-graph
import torch
from torch import nn

torch.manual_seed(0)
mse = nn.MSELoss()


def decay(model):
    t = torch.linspace(0, 2, 20).view(-1, 1).requires_grad_(True)
    y = model(t)
    (slope,) = torch.autograd.grad(y.sum(), t, create_graph=True)
    return (slope + 0.7 * y).pow(2).mean()


class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, t):
        return self.layers(t)

    def knowledge(self):
        start = mse(self(torch.zeros(1, 1)), torch.ones(1, 1))
        end = mse(self(torch.full((1, 1), 2.0)), torch.full((1, 1), 0.2466))
        return start + end + decay(self).item()  # <-- bug

    def fit(self, t, y):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        for _ in range(30):
            optimizer.zero_grad()
            loss = mse(self(t), y) + self.knowledge()
            loss.backward()
            optimizer.step()


t = torch.rand(12, 1)
Curve().fit(t, torch.exp(-0.7 * t))
