# bug: B127
# id: clipped-before-division
import torch
from torch import nn

torch.manual_seed(0)
ACCUMULATE, LIMIT = 4, 1.0
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
truth = 3 * torch.randn(10, 1)

for i in range(40):
    x = torch.randn(8, 10)
    nn.functional.mse_loss(model(x), x @ truth).backward()
    if (i + 1) % ACCUMULATE == 0:
        nn.utils.clip_grad_norm_(model.parameters(), LIMIT)  # <-- bug
        for p in model.parameters():
            p.grad.div_(ACCUMULATE)  # <-- bug
        optimizer.step()
        optimizer.zero_grad()
