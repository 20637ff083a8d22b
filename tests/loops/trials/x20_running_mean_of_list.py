# truth: running-loss-backward
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""The list of losses is not emptied within the window, and the mean of it goes backward each time."""
k = 3
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adamax(net.parameters(), lr=1e-2)
for it in range(6):
    losses = []
    opt.zero_grad()
    for m in range(k):
        x = torch.randn(8, 6)
        losses.append(F.mse_loss(net(x), x.sum(1, keepdim=True)))
        torch.stack(losses).mean().backward(retain_graph=True)  # <-- bug
    opt.step()
