# truth: input-gradient-pollutes-parameters
# args: --window 2
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Adversarial examples made with backward() inside a window of two micro-batches."""
net = nn.Sequential(nn.Linear(6, 16), nn.Softplus(), nn.Linear(16, 2))
opt = torch.optim.Adamax(net.parameters(), lr=1e-2)


def attack(x, y, eps=0.1):
    adv = x.clone().requires_grad_()
    F.cross_entropy(net(adv), y).backward()  # <-- bug
    return (x + eps * adv.grad.sign()).detach()


for it in range(8):
    opt.zero_grad()
    for m in range(2):
        x, y = torch.randn(8, 6), torch.randint(0, 2, (8,))
        adv = attack(x, y)
        (F.cross_entropy(net(adv), y) / 2).backward()
    opt.step()
