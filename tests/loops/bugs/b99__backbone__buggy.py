# bug: B99
# id: frozen-by-attribute
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.backbone(x))


torch.manual_seed(0)
model = Classifier()
model.backbone.requires_grad = False  # <-- bug
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    x, y = torch.randn(16, 8), torch.randint(4, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
