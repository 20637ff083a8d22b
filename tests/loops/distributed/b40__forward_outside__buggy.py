# bug: B40
# id: forward-outside-no-sync
import contextlib
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", init_method=os.environ["RENDEZVOUS"], rank=int(os.environ["RANK"]), world_size=2)
torch.manual_seed(0)
ddp = DistributedDataParallel(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)))
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
k = 4
torch.manual_seed(1 + dist.get_rank())
for _ in range(3):
    optimizer.zero_grad()
    for j in range(k):
        loss = nn.functional.mse_loss(ddp(torch.randn(4, 6)), torch.randn(4, 1)) / k  # <-- bug
        with ddp.no_sync() if j < k - 1 else contextlib.nullcontext():  # <-- bug
            loss.backward()
    optimizer.step()
dist.destroy_process_group()
