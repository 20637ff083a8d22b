# bug: B42
# id: sync-never-re-enabled
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo", init_method=os.environ["RENDEZVOUS"], rank=int(os.environ["RANK"]), world_size=2)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
torch.manual_seed(1 + dist.get_rank())
for _ in range(3):
    optimizer.zero_grad()
    for _ in range(k):
        model.set_requires_gradient_sync(False)  # <-- bug
        loss = nn.functional.mse_loss(model(torch.randn(4, 6)), torch.randn(4, 2)) / k
        loss.backward()
    optimizer.step()  # <-- bug
dist.destroy_process_group()
