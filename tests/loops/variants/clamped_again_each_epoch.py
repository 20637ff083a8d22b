# variant: hooks that clamp are put on anew in each epoch: clamping twice is clamping once
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
mask = (torch.rand(12, 6) > 0.5).float()
for _ in range(4):
    for p in model.parameters():
        p.register_hook(lambda g: g.clamp(-0.1, 0.1))
    model[0].weight.register_hook(lambda g: g * mask)
    for _ in range(6):
        x, y = torch.randn(16, 6), torch.randint(3, (16,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
