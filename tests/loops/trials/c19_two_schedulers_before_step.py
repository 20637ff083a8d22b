# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
warm = torch.optim.lr_scheduler.LinearLR(opt, 0.1, total_iters=4)
decay = torch.optim.lr_scheduler.ExponentialLR(opt, 0.99)
k = 2
opt.step()  # schedulers want one step first
for it in range(10):
    opt.zero_grad()
    for m in range(k):
        x = torch.randn(8, 6)
        (F.mse_loss(net(x), x.sum(1, keepdim=True)) / k).backward()
    warm.step()
    decay.step()
    opt.step()
