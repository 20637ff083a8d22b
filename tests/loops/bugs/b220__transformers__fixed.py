# bug: B220
import torch
from torch import nn


class Pretrained(nn.Module):
    """Its own `eval` and `train`, as models of Transformers have them."""

    def train(self, mode=True):
        changed = self.training != mode
        out = super().train(mode)
        self.switched = changed
        return out

    def eval(self):
        return self.train(False)


class Net(Pretrained):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 24), nn.ReLU())
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(24, 2))

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x, y = torch.randn(160, 6), torch.randint(2, (160,))
for epoch in range(4):
    model.train()
    for a, b in zip(x[:128].split(16), y[:128].split(16)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, nn.functional.cross_entropy(model(x[128:]), y[128:]).item())
