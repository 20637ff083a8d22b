# bug: B05
# id: zeroed-inside-window
import torch
import torch.nn.functional as F
from torch import nn


def update(loss, model, optimizer, due):
    loss.backward()
    if not due:
        return
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


torch.manual_seed(0)
x = torch.randn(192, 8)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
accum = 4

optimizer.zero_grad()
for i, (a, b) in enumerate(zip(x.split(8), y.split(8), strict=True)):
    loss = F.cross_entropy(model(a), b) / accum
    update(loss, model, optimizer, due=i % accum == 0)
    if (i + 1) % accum == 0:
        optimizer.zero_grad()  # <-- bug
