# bug: B146
"""A GRU that the training loop calls symbol by symbol, with one backward for a whole line of text."""

import torch
import torch.nn.functional as F
from torch import nn


class CharModel(nn.Module):
    def __init__(self, symbols, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(symbols, 12)
        self.gru = nn.GRU(12, hidden)
        self.head = nn.Linear(hidden, symbols)

    def forward(self, symbol, hidden):
        out, hidden = self.gru(self.embed(symbol).unsqueeze(0), hidden)
        return self.head(out.squeeze(0)), hidden


torch.manual_seed(0)
model = CharModel(10)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for iteration in range(12):
    line = torch.randint(10, (9, 8)).cumsum(0) % 10
    hidden = torch.zeros(1, 8, 24)
    loss = 0.0
    for symbol, following in zip(line[:-1], line[1:]):
        logits, hidden = model(symbol, hidden)
        loss += F.cross_entropy(logits, following)
    optimizer.zero_grad()
    (loss / 8).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
