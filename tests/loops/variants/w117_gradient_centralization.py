# variant: gradient centralization: gradients edited in place and in a loop between backward and step
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(5):
    for _ in range(2):
        x = torch.randn(8, 6)
        loss = (model(x) - x[:, :1]).pow(2).mean() / 2
        loss.backward()
    for p in model.parameters():
        if p.grad.dim() > 1:
            p.grad.data.add_(-p.grad.data.mean(dim=tuple(range(1, p.grad.dim())), keepdim=True))
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f}")
