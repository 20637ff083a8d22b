# bug: B96
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils import checkpoint as cp

remat = partial(cp.checkpoint, use_reentrant=True)

torch.manual_seed(0)
embedding = nn.Embedding(11, 8)
dropout = nn.Dropout(0.3)
first, second, out = nn.Linear(8, 16), nn.Linear(16, 8), nn.Linear(8, 11)


def feed_forward(h):
    return h + dropout(second(dropout(torch.relu(first(h)))))


params = [p for m in (embedding, first, second, out) for p in m.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1)
batches = [torch.randint(11, (4, 7)) for _ in range(12)]
for ids in batches:
    h = embedding(ids[:, :-1])
    h = remat(feed_forward, h)
    loss = F.cross_entropy(out(h).flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
