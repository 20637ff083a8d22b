# variant: a plain leaf tensor in the optimizer (adversarial delta), the network frozen and untouched
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)).eval()
for p in net.parameters():
    p.requires_grad_(False)
image = torch.randn(1, 6)
delta = torch.zeros_like(image, requires_grad=True)
opt = torch.optim.SGD([delta], lr=0.1)
for t in range(10):
    loss = -nn.functional.cross_entropy(net(image + delta), torch.tensor([1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    delta.data.clamp_(-0.2, 0.2)

print(f"{-loss.item():.4f}")
