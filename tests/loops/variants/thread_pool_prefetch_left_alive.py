# variant: batches made ahead by a ThreadPoolExecutor that nobody shuts down: its idle workers are alive at the end
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.manual_seed(0)
pool = ThreadPoolExecutor(max_workers=2)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def make_batch(index):
    g = torch.Generator().manual_seed(index)
    x = torch.randn(8, 6, generator=g)
    return x, x[:, :3].argmax(1)


futures = deque(pool.submit(make_batch, i) for i in range(3))
for i in range(20):
    x, y = futures.popleft().result()
    futures.append(pool.submit(make_batch, i + 3))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f} {len(futures)} batches left over")
