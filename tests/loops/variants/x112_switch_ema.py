# variant: SwitchEMA: at the end of each epoch, after the evaluation, the weights become the average
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
ema = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
xv = torch.randn(32, 6)
for epoch in range(4):
    for _ in range(10):
        x = torch.randn(16, 6)
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for a, p in zip(ema.parameters(), model.parameters()):
                a.mul_(0.9).add_(p, alpha=0.1)
    with torch.no_grad():
        raw, held_out = ((one(xv) - xv[:, :1]).pow(2).mean().item() for one in (model, ema))
    print(f"{epoch}: {raw:.4f} {held_out:.4f}")
    model.load_state_dict(ema.state_dict())
