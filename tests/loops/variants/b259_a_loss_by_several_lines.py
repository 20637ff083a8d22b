# variant: the name of the loss is bound again, each time from what it was, or after it was shown, or beside a branch
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
smooth = True
shown = []
for step in range(20):
    x, y = torch.randn(8, 5), torch.randn(8, 2)
    out = net(x)
    loss = torch.zeros(())
    loss = F.mse_loss(out, y)
    if smooth:
        loss = F.smooth_l1_loss(out, y)
    loss = loss + 0.01 * out.abs().mean()
    loss_l1 = F.l1_loss(out, y)
    shown.append(loss_l1.item())
    loss_l1 = F.l1_loss(out, y, reduction="sum")
    loss = 0.5 * loss + 0.001 * loss_l1
    opt.zero_grad()
    loss.backward()
    opt.step()
