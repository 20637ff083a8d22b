# bug: B116
# id: trained-in-eval-mode
import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 3))

    def forward(self, x):
        return self.layers(x)


def evaluate(model, x):
    with torch.no_grad():
        return (model(x).argmax(1) == x[:, :3].argmax(1)).float().mean().item()


def update(average, model, decay=0.9):
    for theirs, mine in zip(average.parameters(), model.parameters()):
        theirs.data.mul_(decay).add_(mine.data, alpha=1 - decay)
    for theirs, mine in zip(average.buffers(), model.buffers()):
        theirs.copy_(mine)


torch.manual_seed(2)
net = Net()
average = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
net.train()
for epoch in range(4):
    for _ in range(6):
        x = torch.randn(16, 6)
        loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update(average, net)
    net.eval()  # <-- bug
    average.eval()
    print(epoch, f"{evaluate(average, torch.randn(64, 6)):.3f}")
