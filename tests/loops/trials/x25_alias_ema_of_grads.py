# truth: aliased-gradients
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Two towers are kept alike by handing one tower's gradients to the other without a copy."""
left, right = nn.Linear(6, 4), nn.Linear(6, 4)
right.load_state_dict(left.state_dict())
head = nn.Linear(4, 1)
opt = torch.optim.SGD([*left.parameters(), *right.parameters(), *head.parameters()], lr=0.05)
for it in range(8):
    a, b = torch.randn(8, 6), torch.randn(8, 6)
    opt.zero_grad()
    F.mse_loss(head(left(a)), a.sum(1, keepdim=True)).backward()
    for p, q in zip(left.parameters(), right.parameters()):
        q.grad = p.grad  # <-- bug
    F.mse_loss(head(right(b)), b.sum(1, keepdim=True)).backward()
    opt.step()
