# variant: a temporal graph network: one cell updates the stored memories of sources and of targets, once for each batch
import torch
import torch.nn.functional as F
from torch import nn


class Memory(nn.Module):
    def __init__(self, nodes, dim, features):
        super().__init__()
        self.updater = nn.GRUCell(dim + features, dim)
        self.score = nn.Bilinear(dim, dim, 1)
        self.register_buffer("state", 0.1 * torch.randn(nodes, dim))

    def forward(self, source, target, features):
        s, t = self.state[source], self.state[target]
        new_s = self.updater(torch.cat([t, features], dim=1), s)
        new_t = self.updater(torch.cat([s, features], dim=1), t)
        return new_s, new_t

    def store(self, nodes, new):
        self.state[nodes] = new.detach()


torch.manual_seed(0)
memory = Memory(nodes=20, dim=8, features=3)
optimizer = torch.optim.Adam(memory.parameters(), lr=3e-3)
for _ in range(12):
    nodes = torch.randperm(20)
    source, target = nodes[:8], nodes[8:16]
    new_source, new_target = memory(source, target, torch.randn(8, 3))
    real, wrong = memory.score(new_source, new_target), memory.score(new_source, new_target.roll(1, 0))
    loss = F.softplus(-real).mean() + F.softplus(wrong).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.store(source, new_source)
    memory.store(target, new_target)
