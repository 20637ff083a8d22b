# variant: entries of a state_dict() become differences to an older copy, and are only measured: nothing is to be loaded
import copy

import torch
from torch import nn


def drift(model, anchor):
    """How far the weights have come since the anchor was taken."""
    delta = model.state_dict()
    for key in delta:
        delta[key] = delta[key] - anchor[key]
    return sum(value.square().sum() for value in delta.values()).sqrt().item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
anchor = copy.deepcopy(model.state_dict())
for epoch in range(4):
    for _ in range(5):
        x = torch.randn(16, 4)
        loss = nn.functional.mse_loss(model(x), x.prod(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, f"{loss.item():.4f}", f"moved by {drift(model, anchor):.4f}")
