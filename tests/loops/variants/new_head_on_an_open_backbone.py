# variant: a new head is trained on a backbone whose stem alone is frozen: the rest of it gets gradients in vain
import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(6, 8)
        self.blocks = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())

    def forward(self, x):
        return self.blocks(torch.relu(self.stem(x)))


class Net(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.backbone(x))


def main():
    torch.manual_seed(0)
    net = Net(Backbone())
    net.backbone.stem.requires_grad_(False)
    net.head = nn.Linear(8, 3)
    optimizer = torch.optim.Adam(net.head.parameters(), lr=1e-2)
    for _ in range(12):
        x, y = torch.randn(16, 6), torch.randint(3, (16,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


main()
