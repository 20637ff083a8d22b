# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
k = 4
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
norms = []
for it in range(6):
    for m in range(k):
        x = torch.randn(8, 6)
        loss = F.mse_loss(net(x), x.sum(1, keepdim=True)) / k
        loss.backward()
        # a huge limit: returns the norm, changes nothing
        norms.append(nn.utils.clip_grad_norm_(net.parameters(), 1e9).item())
    opt.step()
    opt.zero_grad()
print(norms[-1])
