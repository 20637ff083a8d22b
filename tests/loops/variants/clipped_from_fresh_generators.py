# variant: clips what a generator gives, made anew each time, and the two parts of a chain of them
import itertools

import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(6, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD(itertools.chain(encoder.parameters(), head.parameters()), lr=0.05)
for _ in range(12):
    x, y = torch.randn(16, 6), 3 * torch.randn(16, 1)
    optimizer.zero_grad()
    nn.functional.mse_loss(head(torch.tanh(encoder(x))), y).backward()
    nn.utils.clip_grad_norm_(itertools.chain(encoder.parameters(), head.parameters()), 0.1)
    nn.utils.clip_grad_value_(filter(lambda p: p.dim() > 1, encoder.parameters()), 0.01)
    optimizer.step()
