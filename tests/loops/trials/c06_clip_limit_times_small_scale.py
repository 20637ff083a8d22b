# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=16.0)
MAX_NORM = 0.5
for it in range(8):
    x = torch.randn(8, 6)
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    scaler.scale(loss).backward()
    # gradients still carry the scale, so the limit does too
    nn.utils.clip_grad_norm_(net.parameters(), MAX_NORM * scaler.get_scale())
    scaler.step(opt)
    scaler.update()
print(loss.item())
