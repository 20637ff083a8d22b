# truth: scheduler-after-skipped-step
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
from torch.optim.lr_scheduler import OneCycleLR

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = OneCycleLR(opt, max_lr=1e-2, total_steps=20)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
k = 2
for it in range(20):
    opt.zero_grad()
    for _ in range(k):
        x = torch.randn(8, 6)
        scaler.scale(F.mse_loss(net(x), x.sum(1, keepdim=True)) / k).backward()
    scaler.step(opt)
    scaler.update()
    sched.step()  # <-- bug
