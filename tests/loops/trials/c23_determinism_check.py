# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""At the first step the same loss goes backward twice, cleared in between, to check that it is deterministic."""
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for it in range(6):
    x = torch.randn(8, 6)
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    seen = []
    for trial in range(2 if it == 0 else 1):
        opt.zero_grad()
        loss.backward(retain_graph=it == 0)
        seen.append(net[0].weight.grad.clone())
    assert all(torch.equal(seen[0], s) for s in seen)
    opt.step()
