# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Random search: each trial makes its own model; training stops between step and clear once good enough."""


def trial(lr, k=2):
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for it in range(5):
        total = 0.0
        for m in range(k):
            x = torch.randn(8, 6)
            loss = F.mse_loss(net(x), x.sum(1, keepdim=True)) / k
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        if total < 3.0 or it == 4:
            break
        opt.zero_grad()
    return total


print(min(trial(lr) for lr in (1e-3, 1e-2, 1e-1, 0.3)))
