# bug: B201
"""A frozen backbone with batch norms, put into eval mode after train() went through the whole model."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU())
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


torch.manual_seed(0)
model = Classifier()
for parameter in model.backbone.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
batches = [(torch.randn(16, 6), torch.randint(3, (16,))) for _ in range(8)]

for epoch in range(3):
    model.train()
    model.backbone.eval()
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
