# bug: B81
# id: gradients-nobody-uses
import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / rank)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.head(x)


def adapt(net):
    for at, block in enumerate(net.blocks):
        net.blocks[at] = LoRA(block)


def main():
    torch.manual_seed(0)
    net = Net()
    net.blocks.requires_grad_(False)
    trainable = [p for p in net.parameters() if p.requires_grad]  # <-- bug
    adapt(net)
    optimizer = torch.optim.AdamW(trainable, lr=1e-2)  # <-- bug
    for _ in range(12):
        x, y = torch.randn(16, 6), torch.randint(3, (16,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


main()
