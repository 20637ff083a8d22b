# variant: p.grad read for a log between two backwards of a window: norms, a cosine with the previous one, a histogram
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
accum, log, previous = 4, [], None

for i in range(36):
    x, y = torch.randn(4, 8), torch.randint(0, 3, (4,))
    logits = model(x)
    if i % accum:
        flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
        if previous is not None:
            log.append(
                {
                    "norm": flat.norm().item(),
                    "cosine": F.cosine_similarity(flat, previous, dim=0).item(),
                    "histogram": torch.histc(flat, bins=5).tolist(),
                }
            )
        previous = flat
    loss = F.cross_entropy(logits, y) / accum
    loss.backward()
    if (i + 1) % accum == 0:
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item() * accum:.4f} {len(log)} {log[-1]['cosine']:.3f}")
