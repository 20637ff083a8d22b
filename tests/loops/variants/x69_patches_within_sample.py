# variant: each patch finds its other view among the patches of its own image (bmm, arange): samples stay apart
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 6))
optimizer = torch.optim.AdamW(encoder.parameters(), lr=5e-3)
k, patches = 4, 8
for i in range(40):
    x = torch.randn(3, patches, 5)
    a = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=-1)
    b = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=-1)
    logits = torch.bmm(a, b.transpose(1, 2)) / 0.1
    target = torch.arange(patches).repeat(len(x))
    loss = F.cross_entropy(logits.flatten(0, 1), target)
    (loss / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
