# variant: several passes a step that are no micro-batches: a slow optimizer beside a fast one, and a loop over tasks
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body, heads = nn.Linear(6, 12), nn.ModuleList(nn.Linear(12, 1) for _ in range(3))
fast, slow = torch.optim.SGD(heads.parameters(), lr=0.05), torch.optim.SGD(body.parameters(), lr=0.01)
every = 4
for i in range(16):
    x = torch.randn(8, 6)
    fast.zero_grad()
    F.mse_loss(heads[0](body(x)), x[:, :1]).backward()
    fast.step()
    if (i + 1) % every == 0:
        slow.step()
        slow.zero_grad()

both = torch.optim.Adam([*body.parameters(), *heads.parameters()], lr=1e-2)
for step in range(8):
    x = torch.randn(8, 6)
    both.zero_grad()
    for task, head in enumerate(heads):
        F.mse_loss(head(body(x)), x[:, task : task + 1]).backward()
    both.step()
