# bug: B144
# id: frozen-at-zero
"""A side branch with a last layer of zeros; the trainer freezes what is not called head."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 20)
        self.adapter_in, self.adapter_out = nn.Linear(6, 4), nn.Linear(4, 20)
        nn.init.zeros_(self.adapter_out.weight)
        nn.init.zeros_(self.adapter_out.bias)
        self.head = nn.Linear(20, 1)

    def forward(self, x):
        side = self.adapter_out(torch.tanh(self.adapter_in(x)))
        return self.head(torch.tanh(self.body(x) + side))


def prepare(net):
    for name, p in net.named_parameters():
        p.requires_grad_(False) if not name.startswith("head") else None  # <-- bug
    return torch.optim.SGD((p for p in net.parameters() if p.requires_grad), lr=0.05)


torch.manual_seed(0)
net = Net()
optimizer = prepare(net)
for _ in range(18):
    x = torch.randn(24, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x.sin().sum(1, keepdim=True)).backward()
    optimizer.step()
