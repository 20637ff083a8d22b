# bug: B278
import io

import torch
import torch.nn.functional as F
from torch import nn

memory = io.BytesIO()


def run(last, resume):
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.7)
    first = 0
    if resume:
        memory.seek(0)
        held = torch.load(memory)
        net.load_state_dict(held["net"])
        opt.load_state_dict(held["opt"])
        sched.load_state_dict(held["sched"])
        first = held["epoch"] + 1
    for epoch in range(first, last):
        for x in torch.randn(4, 8, 4):
            opt.zero_grad()
            F.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
            opt.step()
        sched.step()
    memory.seek(0)
    states = {"net": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "epoch": epoch}
    torch.save(states, memory)


torch.manual_seed(2)
run(3, resume=False)
run(6, resume=True)
