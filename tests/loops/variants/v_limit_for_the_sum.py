# variant: the sum over a window is clipped with a limit for the sum, and divided afterwards; and what was clipped is
# weakened for the body by another factor
import torch
from torch import nn

torch.manual_seed(0)
k = 4
body, head = nn.Linear(10, 16), nn.Linear(16, 1)
model = nn.Sequential(body, nn.Tanh(), head)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for i in range(32):
    x = torch.randn(8, 10)
    nn.functional.mse_loss(model(x), 4 * x.sum(1, keepdim=True)).backward()
    if (i + 1) % k == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0 * k)
        for p in model.parameters():
            p.grad /= k
        for p in body.parameters():
            p.grad *= 0.1
        optimizer.step()
        optimizer.zero_grad()
