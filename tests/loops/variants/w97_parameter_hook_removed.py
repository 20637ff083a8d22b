# variant: a hook put on a parameter every iteration and taken off again
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(6):
    handle = model[0].weight.register_hook(lambda g: g * 0.5)
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    handle.remove()
    optimizer.step()

print(f"{loss.item():.4f} {len(model[0].weight._backward_hooks or {})}")
