# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
with torch.autocast("cpu", dtype=torch.bfloat16):
    for it in range(10):
        x = torch.randn(32, 6)
        loss = F.mse_loss(net(x).float(), x.sum(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch.clear_autocast_cache()  # the weights have moved
print(loss.item())
