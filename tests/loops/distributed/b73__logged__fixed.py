# bug: B73
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def gradient_norm(model):
    total = torch.zeros(())
    for p in model.parameters():
        if p.grad is not None:
            total += p.grad.to_local().norm() ** 2
    dist.all_reduce(total)
    return total.sqrt()


dist.init_process_group("gloo", init_method=os.environ["RENDEZVOUS"], rank=int(os.environ["RANK"]), world_size=2)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
torch.manual_seed(1 + dist.get_rank())
for _ in range(8):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(torch.randn(8, 6)), torch.randn(8, 2)).backward()
    norm = gradient_norm(model)
    optimizer.step()
    print(f"rank {dist.get_rank()} norm {norm:.4f}")
dist.destroy_process_group()
