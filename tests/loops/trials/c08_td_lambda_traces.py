# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Online TD(lambda): p.grad itself is the eligibility trace, decayed and never cleared inside an episode."""
value = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
gamma, lam, lr = 0.95, 0.8, 0.05
for episode in range(4):
    value.zero_grad()
    s = torch.randn(4)
    for t in range(10):
        s2, r = 0.9 * s + 0.1 * torch.randn(4), s.sum()
        for p in value.parameters():
            if p.grad is not None:
                p.grad.mul_(gamma * lam)
        v = value(s)
        v.backward()
        with torch.no_grad():
            delta = (r + gamma * value(s2) - v).item()
            for p in value.parameters():
                p.add_(p.grad, alpha=lr * delta)
        s = s2
print(v.item())
