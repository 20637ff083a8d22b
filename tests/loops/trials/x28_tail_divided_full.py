# truth: tail-divided-by-full-window
# args: --reference reference
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Deque-fed windows; the last one of the data is short, and still divided by K."""
from collections import deque

K = 4
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)).double()
opt = torch.optim.Adamax(net.parameters(), lr=1e-2)
queue = deque(torch.randn(14, 8, 6, dtype=torch.float64))
current = []


def loss_of(x):
    return F.mse_loss(net(x), x.sum(1, keepdim=True))


def reference():
    names, ps = zip(*net.named_parameters())
    return dict(zip(names, torch.autograd.grad(sum(map(loss_of, current)) / len(current), ps)))


while queue:
    current = [queue.popleft() for _ in range(min(K, len(queue)))]
    for x in current:
        (loss_of(x) / K).backward()  # <-- bug
    opt.step()
    opt.zero_grad()
