# variant: a network that grows: the layer is added between windows and its parameters join the optimizer
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
head = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-2)
for stage in range(3):
    if stage:
        new = nn.Linear(8, 8)
        nn.init.eye_(new.weight)
        nn.init.zeros_(new.bias)
        model.append(new).append(nn.ReLU())
        optimizer.add_param_group({"params": new.parameters()})
    for _ in range(3):
        x = torch.randn(8, 6)
        loss = (head(model(x)) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f} {len(optimizer.param_groups)}")
