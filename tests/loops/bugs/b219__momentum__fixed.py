# bug: B219
import torch
import torch.nn.functional as F
from torch import nn


def encoder():
    return nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 8))


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = encoder(), encoder()
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.data.copy_(q.data)
            k.requires_grad = False

    @torch.no_grad()
    def follow(self, m=0.99):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.data = k.data * m + q.data * (1 - m)

    def forward(self, a, b):
        q = F.normalize(self.query(a), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(b), dim=1)
        return q @ k.t() / 0.2


def main():
    torch.manual_seed(0)
    model = Contrast()
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.05, momentum=0.9)
    for _ in range(20):
        x = torch.randn(16, 10)
        said = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        loss = F.cross_entropy(said, torch.arange(16))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
