# bug: B158
# id: loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.kind, self.box = nn.Linear(32, 3), nn.Linear(32, 4)

    def forward(self, x):
        features = self.body(x)
        return self.kind(features), self.box(features)


def train(model, optimizer, loader, accum):
    optimizer.zero_grad()
    for i, (x, kind, box) in enumerate(loader):
        said_kind, said_box = model(x)
        loss = F.cross_entropy(said_kind, kind) + F.smooth_l1_loss(said_box, box)
        loss.backward()  # <-- bug
        if (i + 1) % accum == 0:
            optimizer.step()
            optimizer.zero_grad()


torch.manual_seed(0)
model = Detector()
loader = []
for _ in range(16):
    x = torch.randn(8, 8)
    loader.append((x, x[:, :3].argmax(1), x[:, 4:].tanh()))
train(model, torch.optim.SGD(model.parameters(), lr=0.05), loader, accum=4)
