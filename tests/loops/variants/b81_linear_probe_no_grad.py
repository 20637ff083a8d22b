# variant: linear probing: the backbone runs under no_grad in eval mode, only the probe is in the optimizer
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 6, 3, padding=1)
        self.norm = nn.BatchNorm1d(6)
        self.out = nn.Linear(6, 12)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.conv(x))).mean(-1))


torch.manual_seed(0)
backbone = Encoder().eval()
probe = nn.Linear(12, 4)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.1, momentum=0.9)
for step in range(12):
    x, y = torch.randn(10, 1, 9), torch.randint(0, 4, (10,))
    with torch.no_grad():
        features = backbone(x)
    loss = nn.functional.cross_entropy(probe(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
