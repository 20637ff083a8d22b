# truth: loss-backward-twice
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Gradient penalty: the loss goes backward with create_graph, then again as part of loss + penalty."""
net = nn.Sequential(nn.Linear(6, 16), nn.Softplus(), nn.Linear(16, 1))
opt = torch.optim.NAdam(net.parameters(), lr=1e-3)
for it in range(6):
    x = torch.randn(8, 6)
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward(create_graph=True)  # <-- bug
    penalty = sum(p.grad.square().sum() for p in net.parameters())
    (loss + 0.01 * penalty).backward()  # <-- bug
    opt.step()
    for p in net.parameters():
        p.grad = None
