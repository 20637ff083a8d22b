# variant: random network distillation: the target is a random network that nothing ever trains or moves

import torch
from torch import nn


class Novelty(nn.Module):
    def __init__(self, states=4):
        super().__init__()
        self.target = nn.Sequential(nn.Linear(states, 16), nn.ReLU(), nn.Linear(16, 8))
        self.predictor = nn.Sequential(nn.Linear(states, 16), nn.ReLU(), nn.Linear(16, 8))
        for p in self.target.parameters():
            p.requires_grad = False

    def forward(self, state):
        return (self.predictor(state) - self.target(state)).pow(2).sum(-1)


torch.manual_seed(0)
novelty = Novelty()
optimizer = torch.optim.Adam(novelty.predictor.parameters(), lr=1e-3)
for step in range(120):
    loss = novelty(torch.randn(16, 4)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss:.4f}")
