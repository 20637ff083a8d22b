# bug: B217
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def spread(net, x):
    shifted = x + 0.05 * torch.randn_like(x)
    return F.mse_loss(net(shifted), net(x))


net = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 3))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
for step in range(25):
    x = torch.randn(16, 8)
    target = (x[:, :3] > 0).float()
    fit = F.binary_cross_entropy_with_logits(net(x), target)
    loss = fit + 4.0 * spread(net, x)
    opt.zero_grad()
    loss.backward()
    opt.step()
