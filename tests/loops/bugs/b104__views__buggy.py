# bug: B104
# id: target-not-detached
import torch
from torch import nn

torch.manual_seed(5)
encoder = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
predictor = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 16))
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05)
alike = nn.CosineSimilarity(dim=1)


def noisy(x):
    return x + 0.1 * torch.randn_like(x)


for x in torch.randn(12, 20, 10):
    one, other = encoder(noisy(x)), encoder(noisy(x))
    loss = -(alike(predictor(one), other).mean() + alike(predictor(other), one).mean()) / 2  # <-- bug
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
