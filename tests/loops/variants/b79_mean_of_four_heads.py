# variant: four heads, each loss / 4 backwarded on its own, then a step: divided by heads, each batch is a window
import torch
from torch import nn


class Ensemble(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(16, 3) for _ in range(heads))

    def forward(self, x, k):
        return self.heads[k](self.trunk(x))


torch.manual_seed(1)
model = Ensemble()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
batches = [(torch.randn(12, 8), torch.randint(0, 3, (12,))) for _ in range(12)]

for i, (x, y) in enumerate(batches):
    for k in range(4):
        loss = nn.functional.cross_entropy(model(x, k), y) / 4
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if (i + 1) % 4 == 0:
        print(f"{i + 1}: {loss.item() * 4:.4f}")
