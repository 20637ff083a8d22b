# variant: two workers hold parameters on one memory, each with its own gradients and its own optimizer, as in Hogwild
import copy

import torch
from torch import nn

torch.manual_seed(1)
shared = nn.Linear(4, 2)
workers = [copy.deepcopy(shared) for _ in range(2)]
for worker in workers:
    for mine, theirs in zip(worker.parameters(), shared.parameters(), strict=True):
        mine.data = theirs.data
optimizers = [torch.optim.Adam(worker.parameters(), lr=1e-2) for worker in workers]
for step in range(10):
    for worker, optimizer in zip(workers, optimizers, strict=True):
        x = torch.randn(8, 4)
        loss = nn.functional.cross_entropy(worker(x), x[:, :2].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"{loss.item():.4f}")
