# bug: B108
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, width)

    def forward(self, x):
        soft = torch.sigmoid(self.score(x))
        hard = torch.round(soft)
        change = hard - soft
        return soft + change.detach()


torch.manual_seed(1)
gate, head = Gate(6), nn.Linear(6, 2)
optimizer = torch.optim.SGD([*gate.parameters(), *head.parameters()], lr=0.1)
for _ in range(10):
    x = torch.randn(24, 6)
    wanted = (x[:, 0] * x[:, 1] > 0).long()
    loss = nn.functional.cross_entropy(head(gate(x) * x), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
