# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""The scaler scales; the gradient is unscaled by hand, in one pass with the finite check and the clipping."""
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for it in range(8):
    x = torch.randn(8, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    scaler.scale(loss).backward()
    inv = 1.0 / scaler.get_scale()
    with torch.no_grad():
        torch._foreach_mul_([p.grad for p in net.parameters()], inv)
        norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in net.parameters()]))
    if torch.isfinite(norm):
        opt.step()
print(loss.item())
