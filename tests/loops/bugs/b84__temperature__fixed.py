# bug: B84
import torch
import torch.nn.functional as F
from torch import nn


class Retrieval(nn.Module):
    def __init__(self):
        super().__init__()
        self.text, self.image = nn.Linear(10, 8), nn.Linear(12, 8)


torch.manual_seed(0)
model = Retrieval()
temperature = nn.Parameter(torch.tensor(0.1))
optimizer = torch.optim.AdamW([*model.parameters(), temperature], lr=1e-3)
for _ in range(12):
    shared = torch.randn(16, 6)
    left = F.normalize(model.text(torch.cat([shared, torch.randn(16, 4)], dim=1)), dim=1)
    right = F.normalize(model.image(torch.cat([shared, torch.randn(16, 6)], dim=1)), dim=1)
    table = left @ right.T / temperature
    loss = F.cross_entropy(table, torch.arange(16))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
