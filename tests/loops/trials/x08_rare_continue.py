# truth: window-misaligned
# args: --window 4
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Steps are counted by the loop's index; now and then a batch without labels is passed over."""
from itertools import count

net = nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Linear(16, 2))
opt = torch.optim.Adagrad(net.parameters(), lr=1e-2)
k = 4
for i in count(1):
    if i > 60:
        break
    x, y = torch.randn(4, 6), torch.randint(0, 2, (4,))
    if i in (18, 37, 41):
        continue  # <-- bug
    (F.cross_entropy(net(x), y) / k).backward()
    if i % k == 0:  # <-- bug
        opt.step()
        opt.zero_grad()
