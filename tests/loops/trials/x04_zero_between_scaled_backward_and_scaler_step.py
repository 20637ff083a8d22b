# truth: zeroed-before-step
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for it in range(8):
    x = torch.randn(8, 6)
    with torch.autocast("cpu", dtype=torch.float16):
        loss = F.mse_loss(net(x).float(), x.sum(1, keepdim=True))
    scaler.scale(loss).backward()
    opt.zero_grad()  # <-- bug
    scaler.step(opt)
    scaler.update()
