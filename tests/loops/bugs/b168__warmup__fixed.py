# bug: B168
import itertools
import math

import torch
from torch import nn

ACCUMULATE, UPDATES = 2, 16


class WarmupCosine:
    def __init__(self, opt, peak, warmup, total):
        self.opt, self.peak, self.warmup, self.total, self.now = opt, peak, warmup, total, 0
        self.set(0.0)

    def set(self, rate):
        for group in self.opt.param_groups:
            group["lr"] = rate

    def advance(self):
        self.now += 1
        part = min(1.0, max(0, self.now - self.warmup) / (self.total - self.warmup))
        rising = min(1.0, self.now / self.warmup)
        self.set(self.peak * rising * 0.5 * (1 + math.cos(math.pi * part)))


def one_update(net, opt, batches, schedule):
    opt.zero_grad(set_to_none=True)
    for x, y in itertools.islice(batches, ACCUMULATE):
        loss = nn.functional.cross_entropy(net(x), y)
        (loss / ACCUMULATE).backward()
    schedule.advance()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    return loss.item()


torch.manual_seed(4)
net = nn.Sequential(nn.Linear(5, 20), nn.GELU(), nn.Linear(20, 2))
opt = torch.optim.AdamW(net.parameters(), lr=0.0)
schedule = WarmupCosine(opt, peak=1e-2, warmup=4, total=UPDATES)
batches = iter([(x := torch.randn(6, 5), (x.sum(1) > 0).long()) for _ in range(ACCUMULATE * UPDATES)])
for _ in range(UPDATES):
    value = one_update(net, opt, batches, schedule)
print(f"{value:.4f}")
