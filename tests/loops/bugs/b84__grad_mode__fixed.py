# bug: B84
"""Whether the encoder keeps a graph is told by all of its parameters."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.encoder[0].requires_grad_(False)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        trains = any(p.requires_grad for p in self.encoder.parameters())
        with torch.set_grad_enabled(trains):
            features = self.encoder(x)
        return self.head(features)


torch.manual_seed(0)
model = Classifier()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
