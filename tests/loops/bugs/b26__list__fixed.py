# bug: B26
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(10, 16), nn.Tanh())
head = nn.Linear(16, 2)
model = nn.Sequential(backbone, head)
backbone.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.2)
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(8)]

for x, y in batches:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
print(f"norm {norm.item():.3f}")
