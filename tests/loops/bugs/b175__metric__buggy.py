# bug: B175
# id: thawed-with-the-rest
import torch
from torch import nn
from torch.nn import functional as F


class Backbone(nn.Module):
    def __init__(self, bn_freeze=True):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 12, 3, 2, 1), nn.BatchNorm2d(12)
        self.embedding = nn.Linear(12, 6)
        if bn_freeze:
            for m in self.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.eval()
                    m.weight.requires_grad_(False)
                    m.bias.requires_grad_(False)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.embedding(x.mean((2, 3)))


torch.manual_seed(0)
model = Backbone()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(6):
    model.train()
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.eval()
    rest = [p for name, p in model.named_parameters() if "embedding" not in name]
    if epoch == 0:
        for p in rest:
            p.requires_grad = False
    if epoch == 2:
        for p in rest:
            p.requires_grad = True  # <-- bug
    for _ in range(6):
        x, y = torch.randn(8, 3, 12, 12), torch.randint(0, 6, (8,))
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
