# truth: zeroed-inside-window
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""A callback system: the clear hangs on the wrong event."""
from collections import defaultdict


class Bus:
    def __init__(self):
        self.on = defaultdict(list)

    def register(self, event):
        return lambda f: self.on[event].append(f) or f

    def fire(self, event, **kw):
        for f in self.on[event]:
            f(**kw)


bus = Bus()
net = nn.GRU(5, 8, batch_first=True)
head = nn.Linear(8, 1)
opt = torch.optim.RMSprop([*net.parameters(), *head.parameters()], lr=1e-3)
k = 8


@bus.register("batch_start")
def clear(**_):
    opt.zero_grad()  # <-- bug


@bus.register("batch_end")
def maybe_step(i, **_):
    if (i + 1) % k == 0:
        opt.step()


for i in range(48):
    bus.fire("batch_start")
    x = torch.randn(4, 7, 5)
    loss = F.mse_loss(head(net(x)[0][:, -1]), x.mean((1, 2)).unsqueeze(1)) / k
    loss.backward()
    bus.fire("batch_end", i=i)
