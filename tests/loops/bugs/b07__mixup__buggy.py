# bug: B07
# id: divided-twice
import torch
from torch import nn

torch.manual_seed(0)
ACCUMULATE = 4
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 5))
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")


def mixed(x, y):
    """Two batches in one."""
    weight, order = torch.rand(()).item(), torch.randperm(len(x))
    return weight * x + (1 - weight) * x[order], y, y[order], weight


for step in range(32):
    x, y = torch.randn(8, 12), torch.randint(0, 5, (8,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        if step % 3:
            x, first, second, weight = mixed(x, y)
            scores = model(x)
            loss = weight * criterion(scores, first) + (1 - weight) * criterion(scores, second)
        else:
            loss = criterion(model(x), y)
        loss = loss / ACCUMULATE  # <-- bug
    scaler.scale(loss / ACCUMULATE).backward()  # <-- bug
    if (step + 1) % ACCUMULATE == 0:
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
