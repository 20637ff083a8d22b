# bug: B132
import torch
from torch import nn
from torch.nn.functional import cosine_similarity


class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
        self.predictor = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 16))

    def forward(self, one, other):
        z1, z2 = self.encoder(one), self.encoder(other)
        first = self.distance(self.predictor(z1), z2.detach())
        second = self.distance(self.predictor(z2), z1.detach())
        return (first + second) / 2

    def distance(self, predicted, seen):
        return -cosine_similarity(predicted, seen, dim=-1).mean()


torch.manual_seed(0)
model = Twins()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for x in torch.randn(10, 24, 12):
    loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
