# variant: each step of the attack leaves its share of the gradient on the weights, and the last backward adds its own
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
rounds, size = 3, 0.05
for _ in range(12):
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    optimizer.zero_grad()
    noise = torch.zeros_like(x).uniform_(-size, size).requires_grad_(True)
    loss = nn.functional.cross_entropy(model(x + noise), y) / rounds
    for _ in range(rounds - 1):
        loss.backward()
        noise.data.add_(size * noise.grad.sign())
        noise.grad.zero_()
        loss = nn.functional.cross_entropy(model(x + noise), y) / rounds
    loss.backward()
    optimizer.step()
