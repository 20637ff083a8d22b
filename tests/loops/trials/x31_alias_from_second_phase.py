# truth: aliased-gradients
"""Phase 1 trains one tower; phase 2 mirrors its gradients into a second one without a copy."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
left, right, head = nn.Linear(6, 4), nn.Linear(6, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*left.parameters(), *right.parameters(), *head.parameters()], lr=0.05)
for it in range(12):
    a, b = torch.randn(8, 6), torch.randn(8, 6)
    opt.zero_grad()
    F.mse_loss(head(left(a)), a.sum(1, keepdim=True)).backward()
    if it >= 4:
        for p, q in zip(left.parameters(), right.parameters()):
            q.grad = p.grad  # <-- bug
        F.mse_loss(head(right(b)), b.sum(1, keepdim=True)).backward()
    opt.step()
