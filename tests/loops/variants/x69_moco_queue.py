# variant: MoCo, accumulated: negatives come from a queue that, like the key encoder, moves once per step
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder_q = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
encoder_k = copy.deepcopy(encoder_q).requires_grad_(False)
queue = F.normalize(torch.randn(64, 6), dim=1)
optimizer = torch.optim.SGD(encoder_q.parameters(), lr=0.05, momentum=0.9)
accumulate, temperature = 4, 0.1
for step in range(10):
    keys = []
    optimizer.zero_grad()
    for _ in range(accumulate):
        x = torch.randn(4, 8)
        q = F.normalize(encoder_q(x + 0.1 * torch.randn_like(x)), dim=1)
        with torch.no_grad():
            k = F.normalize(encoder_k(x + 0.1 * torch.randn_like(x)), dim=1)
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.T], dim=1) / temperature
        loss = F.cross_entropy(logits, torch.zeros(len(x), dtype=torch.long))
        (loss / accumulate).backward()
        keys.append(k)
    optimizer.step()
    with torch.no_grad():
        for pk, pq in zip(encoder_k.parameters(), encoder_q.parameters()):
            pk.mul_(0.99).add_(pq, alpha=0.01)
        queue = torch.cat([*keys, queue])[:64]

print(f"{loss.item():.4f}")
