# bug: B111
# id: average-factors-swapped
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8))
averaged = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.001))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for it in range(30):
    x0 = torch.randn(32, 8)
    noise = torch.randn_like(x0)
    level = torch.rand(32, 1)
    loss = (net(x0 + level * noise) - noise).pow(2).mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    averaged.update_parameters(net)  # <-- bug
with torch.no_grad():
    print(f"{averaged(torch.randn(4, 8)).std().item():.4f}")
