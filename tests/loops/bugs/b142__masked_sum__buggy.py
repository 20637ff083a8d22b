# bug: B142
# id: mean-of-means
"""A language model on padded sequences, its loss a mean under a mask, four micro-batches a step."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
PAD, ACCUMULATE = 0, 4
embedding, head = nn.Embedding(40, 24), nn.Linear(24, 40)
model = nn.Sequential(embedding, nn.Tanh(), head)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def sequences(length):
    ids = torch.randint(1, 40, (6, 16))
    ids[:, length:] = PAD
    return ids


for step in range(10):
    for length in (3, 6, 10, 16):
        ids = sequences(length)
        mask = (ids[:, 1:] != PAD).float()
        losses = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
        loss = (losses * mask).sum() / mask.sum()  # <-- bug
        loss = loss / ACCUMULATE  # <-- bug
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
