# bug: B73
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Trainer:
    def __init__(self, limit):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
        fully_shard(self.model, mesh=init_device_mesh("cpu", (2,)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.limit = limit

    def clip(self):
        parts = [p.grad.to_local() for p in self.model.parameters()]
        squares = torch.stack([part.square().sum() for part in parts]).sum()
        dist.all_reduce(squares)
        scale = min(1.0, self.limit / (float(squares.sqrt()) + 1e-6))
        for part in parts:
            part.mul_(scale)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.clip()
        self.optimizer.step()


dist.init_process_group("gloo", init_method=os.environ["RENDEZVOUS"], rank=int(os.environ["RANK"]), world_size=2)
trainer = Trainer(limit=0.1)
torch.manual_seed(1 + dist.get_rank())
for _ in range(8):
    trainer.step(torch.randn(8, 6), torch.randn(8, 2))
dist.destroy_process_group()
