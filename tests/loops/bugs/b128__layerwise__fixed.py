# bug: B128
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
DECAY = 0.5
blocks = nn.ModuleList([nn.Linear(6, 16), nn.Linear(16, 16), nn.Linear(16, 2)])
for depth, block in enumerate(reversed(blocks)):
    for p in block.parameters():
        p.register_hook(lambda grad, depth=depth: grad * DECAY**depth)
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)

for _ in range(12):
    x = torch.randn(16, 6)
    hidden = blocks[1](blocks[0](x).relu()).relu()
    optimizer.zero_grad()
    F.cross_entropy(blocks[2](hidden), x[:, :2].argmax(1)).backward()
    optimizer.step()
