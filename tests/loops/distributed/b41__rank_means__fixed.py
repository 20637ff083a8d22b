# bug: B41
# needs: reference
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method=os.environ["RENDEZVOUS"], rank=rank, world_size=2)
torch.manual_seed(0)
model = nn.Linear(6, 1)
ddp = DistributedDataParallel(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
rows = [(torch.randn(10, 6), torch.randn(10, 1)), (torch.randn(2, 6), torch.randn(2, 1))]  # what each rank has


def reference() -> dict[str, torch.Tensor]:
    x, y = (torch.cat(parts) for parts in zip(*rows, strict=True))
    names = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(names, torch.autograd.grad(loss, list(names.values())), strict=True))


for _ in range(3):
    optimizer.zero_grad()
    x, y = rows[rank]
    loss = nn.functional.mse_loss(ddp(x), y, reduction="sum") * dist.get_world_size() / 12
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
