# variant: a cosine classifier, accumulated: features @ prototypes.T, where the prototypes are weights, not the batch
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 6))
prototypes = nn.Parameter(torch.randn(8, 6))
optimizer = torch.optim.SGD([*backbone.parameters(), prototypes], lr=0.1)
temperature, k = 0.1, 4
for i in range(40):
    x, y = torch.randn(8, 10), torch.randperm(8)
    logits = F.normalize(backbone(x), dim=1) @ F.normalize(prototypes, dim=1).T / temperature
    loss = F.cross_entropy(logits, y) / k
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item() * k:.4f}")
