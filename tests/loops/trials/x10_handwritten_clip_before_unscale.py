# truth: clipped-before-unscale
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Value clipping by hand while the gradients still carry the scale."""
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for it in range(8):
    x = torch.randn(8, 6)
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    scaler.scale(loss).backward()
    with torch.no_grad():
        for p in net.parameters():
            p.grad.clamp_(-0.1, 0.1)  # <-- bug
    scaler.step(opt)
    scaler.update()
