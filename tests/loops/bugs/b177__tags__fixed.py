# bug: B177
import torch
from torch import nn

torch.manual_seed(1)
encoder = nn.GRU(6, 16, batch_first=True)
head = nn.Linear(16, 8)
params = [*encoder.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(params, lr=2e-3)
pos_weight = torch.full((8,), 3.0)
for step in range(10):
    batch = torch.randn(8, 5, 6)
    tags = (batch.mean(1) > 0.2).float().repeat(1, 2)[:, :8]
    states, last = encoder(batch)
    scores = head(last[-1])
    loss = nn.functional.binary_cross_entropy_with_logits(scores, tags, pos_weight=pos_weight)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
