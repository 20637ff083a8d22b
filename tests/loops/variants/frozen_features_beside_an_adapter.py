# variant: a frozen backbone runs under no_grad beside an adapter; its input is data, and nothing before it is trained
import torch
from torch import nn

torch.manual_seed(2)


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16), nn.Tanh()).requires_grad_(False)
        self.adapter = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features + self.adapter(x))


model = Adapted()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for step in range(20):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
