# variant: a tied parameter, slices of a flat buffer, a target on the weights' memory, and plain SGD on two in one place
import copy

import torch
from torch import nn

torch.manual_seed(0)
flat = torch.randn(40)
model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
model[2].weight = model[0].weight
model[0].bias = nn.Parameter(flat[:4])
model[2].bias = nn.Parameter(flat[4:8])
target = copy.deepcopy(model)
for slow, fast in zip(target.parameters(), model.parameters(), strict=True):
    slow.data = fast.data
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
one = nn.Linear(4, 2)
other = nn.Linear(4, 2)
other.weight.data = one.weight.data
plain = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=1e-2, momentum=0.9)
for step in range(10):
    x = torch.randn(8, 4)
    with torch.no_grad():
        aim = target(x).softmax(dim=1)
    loss = nn.functional.cross_entropy(model(x), x[:, :2].argmax(dim=1)) + (model(x).softmax(dim=1) - aim).abs().mean()
    loss = loss + nn.functional.cross_entropy(one(x) + other(x.flip(0)), x[:, :2].argmax(dim=1))
    for each in (optimizer, plain):
        each.zero_grad()
    loss.backward()
    for each in (optimizer, plain):
        each.step()
print(f"{loss.item():.4f}")
