# variant: copies come back after more steps; others get them, and the same one with no step between
import copy
import io

import torch
from torch import nn

torch.manual_seed(0)
model, target = nn.Linear(4, 2), nn.Linear(4, 2)
tied = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2))
tied[1].weight = tied[0].weight
optimizer = torch.optim.Adam([*model.parameters(), *tied.parameters()], lr=1e-2)
target.load_state_dict(model.state_dict())
start, first = copy.deepcopy(model.state_dict()), {k: v.clone() for k, v in tied.state_dict().items()}
live = model.state_dict()
file = io.BytesIO()
for step in range(12):
    x = torch.randn(8, 4)
    loss = nn.functional.cross_entropy(model(x) + tied(x), x[:, :2].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        target.load_state_dict(live)
        now = model.state_dict()
        model.load_state_dict(now)
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
file.seek(0)
model.load_state_dict(torch.load(file))
tied.load_state_dict(first)
model.load_state_dict(start)
print(f"{loss.item():.4f}")
