# variant: delta optimised through a network that still requires grad; its gradients pile up and nobody ever reads them
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)).eval()
x = torch.randn(4, 6)
delta = torch.zeros_like(x, requires_grad=True)
opt = torch.optim.Adam([delta], lr=0.05)
for t in range(6):
    opt.zero_grad()
    loss = net(x + delta).logsumexp(1).mean() + delta.pow(2).mean()
    loss.backward()
    opt.step()

print(f"{loss.item():.4f}")
