# variant: MAML whose inner backward is told its inputs, or whose copies are leaves, or that clears in between
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
w = nn.Parameter(torch.randn(5, 2) * 0.1)
meta = torch.optim.SGD([w], lr=0.05)
for step, x in enumerate(torch.randn(9, 12, 5)):
    y = x[:, :2] * 2
    meta.zero_grad()
    fast = w.clone() if step % 3 != 1 else w.detach().clone().requires_grad_()
    if fast.grad_fn is not None:
        fast.retain_grad()
    F.mse_loss(x[:6] @ fast, y[:6]).backward(**({"inputs": [fast]} if step % 3 == 0 else {}))
    slope = fast.grad
    if step % 3 == 2:
        meta.zero_grad()
    adapted = (w.clone() if step % 3 == 1 else fast) - 0.1 * slope
    F.mse_loss(x[6:] @ adapted, y[6:]).backward()
    meta.step()
