# variant: weights move a tenth of the way from a copy; the live state_dict is one of the two
import copy

import torch
from torch import nn

torch.manual_seed(2)
model = nn.Linear(3, 1)
for _ in range(6):
    live = model.state_dict()
    before = copy.deepcopy(live)
    inner = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(3):
        x = torch.randn(8, 3)
        inner.zero_grad()
        (model(x) - x.sum(dim=1, keepdim=True)).square().mean().backward()
        inner.step()
    moved = {k: before[k] + 0.1 * (live[k] - before[k]) for k in live}
    model.load_state_dict(moved)
print(model.bias.item())
