# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
from torch.nn.utils import clip_grad_norm_

net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.NAdam(net.parameters(), lr=1e-2)
log = []
for step in range(12):
    x = torch.randn(8, 6)
    opt.zero_grad()
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    loss.backward()
    opt.step()
    # infinite limit: only measures the norm, for the log
    log.append({"loss": loss.item(), "norm": clip_grad_norm_(net.parameters(), float("inf")).item()})
print(log[-1])
