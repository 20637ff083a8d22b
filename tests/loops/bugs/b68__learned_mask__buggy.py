# bug: B68
# id: auxiliary-loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
accumulate = 2
encoder = nn.Sequential(nn.Linear(12, 24), nn.GELU())
decoder, judge = nn.Linear(24, 12), nn.Linear(24, 1)
optimizer = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters(), *judge.parameters()], lr=1e-3)
for step in range(24):
    patches = torch.randn(16, 12)
    code = encoder(patches)
    error = (decoder(code) - patches).square().mean(-1)
    loss = error.mean()
    larger = (error.detach()[:, None] > error.detach()[None]).float()
    margin = judge(code) - judge(code).T
    pairs = F.binary_cross_entropy_with_logits(margin, larger, reduction="none")
    mask = 1 - torch.eye(16)
    ranking = (pairs * mask).sum() / 240
    loss /= accumulate
    loss += ranking  # <-- bug
    loss.backward()  # <-- bug
    if (step + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
