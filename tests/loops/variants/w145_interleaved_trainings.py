# variant: two independent trainings interleaved, the second with a window twice as long
import torch
from torch import nn

torch.manual_seed(0)
fast, slow = nn.Linear(6, 1), nn.Linear(6, 1)
fast_opt, slow_opt = torch.optim.SGD(fast.parameters(), lr=0.05), torch.optim.Adam(slow.parameters(), lr=1e-2)
for i in range(16):
    x = torch.randn(8, 6)
    y = x.mean(1, keepdim=True)
    (nn.functional.mse_loss(fast(x), y) / 2).backward()
    (nn.functional.l1_loss(slow(x), y) / 4).backward()
    if (i + 1) % 2 == 0:
        fast_opt.step()
        fast_opt.zero_grad()
    if (i + 1) % 4 == 0:
        slow_opt.step()
        slow_opt.zero_grad()

print(f"{fast.weight.norm().item():.4f} {slow.weight.norm().item():.4f}")
