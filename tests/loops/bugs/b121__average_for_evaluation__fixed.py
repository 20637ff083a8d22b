# bug: B121
import copy

import torch
from torch import nn

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 1))
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for epoch in range(6):
    for _ in range(5):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        loss = (model(x) - x[:, :1]).square().mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), model.parameters(), strict=True):
                slow.lerp_(fast, 0.1)
    trained = copy.deepcopy(model.state_dict())
    model.load_state_dict(average.state_dict())
    with torch.no_grad():
        print(model(torch.ones(1, 4)).item())
    model.load_state_dict(trained)
