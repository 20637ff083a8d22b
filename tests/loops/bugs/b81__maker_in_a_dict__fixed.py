# bug: B81
import torch
import torch.nn.functional as F
from torch import nn


class Tower(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, 16), nn.ReLU())
        self.projection = nn.Linear(16, 4)

    def forward(self, x):
        return self.projection(self.encoder(x))


def adam(parameters):
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    return optimizer


torch.manual_seed(0)
towers = {"query": Tower(6), "document": Tower(9)}
head = nn.Linear(4, 4)
optimizers = {name: adam(tower.parameters()) for name, tower in towers.items()}
optimizers["head"] = adam(head.parameters())
for _ in range(8):
    query, document = torch.randn(8, 6), torch.randn(8, 9)
    scores = head(towers["query"](query)) @ towers["document"](document).T
    loss = F.cross_entropy(scores, torch.arange(8))
    for optimizer in optimizers.values():
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers.values():
        optimizer.step()
print(f"{loss.item():.4f}")
