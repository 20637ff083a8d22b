# variant: truncated backpropagation with a cell: the state is detached between windows, and keeps its graph inside one
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
stream = torch.randint(6, (60, 4))
embed, cell, out = nn.Embedding(6, 8), nn.GRUCell(8, 16), nn.Linear(16, 6)
parts = nn.ModuleList([embed, cell, out])
optimizer = torch.optim.Adam(parts.parameters(), lr=5e-3)
h = torch.zeros(4, 16)
loss = 0.0
for t in range(len(stream) - 1):
    h = cell(embed(stream[t]), h)
    loss = loss + F.cross_entropy(out(h), stream[t + 1])
    if (t + 1) % 5 == 0:
        optimizer.zero_grad()
        (loss / 5).backward()
        nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
        optimizer.step()
        h, loss = h.detach(), 0.0
