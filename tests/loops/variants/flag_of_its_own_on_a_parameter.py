# variant: a flag on parameters that looks like a misspelt requires_grad, and is read where the groups are made
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
for name, p in model.named_parameters():
    p.require_grad = name.startswith("2")  # a full learning rate for the head alone
groups = [
    {"params": [p for p in model.parameters() if p.require_grad], "lr": 0.1},
    {"params": [p for p in model.parameters() if not p.require_grad], "lr": 0.001},
]
optimizer = torch.optim.SGD(groups)
for _ in range(10):
    x, y = torch.randn(16, 8), torch.randint(4, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
