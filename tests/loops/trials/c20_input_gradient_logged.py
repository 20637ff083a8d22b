# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""The size of the main loss's input gradient is logged; the second loss is a regulariser with its own backward."""
net = nn.Sequential(nn.Linear(6, 16), nn.Softplus(), nn.Linear(16, 1))
opt = torch.optim.ASGD(net.parameters(), lr=1e-2)
log = []
for it in range(8):
    x = torch.randn(8, 6, requires_grad=True)
    opt.zero_grad()
    main = F.mse_loss(net(x), x.detach().sum(1, keepdim=True))
    main.backward()
    log.append(x.grad.norm(dim=1).mean().item())
    reg = 1e-3 * sum(p.square().sum() for p in net.parameters())
    reg.backward()
    opt.step()
print(log[-1])
