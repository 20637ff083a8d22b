# bug: B84
# id: graph-cut
import copy

import torch
from torch import nn


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(6, 8)
        self.query = nn.Linear(8, 4)
        self.key = copy.deepcopy(nn.Sequential(self.stem, self.query))

    def forward(self, one, other):
        with torch.no_grad():
            for mine, its in zip((*self.stem.parameters(), *self.query.parameters()), self.key.parameters()):
                its.data = 0.9 * its.data + 0.1 * mine.data
            keys = self.key(other)
        return self.query(self.stem(one).detach()) @ keys.T  # <-- bug


torch.manual_seed(0)
model = Contrast()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(9):
    x = torch.randn(8, 6)
    logits = model(x + 0.1 * torch.randn(8, 6), x + 0.1 * torch.randn(8, 6))
    optimizer.zero_grad()
    nn.functional.cross_entropy(logits, torch.arange(8)).backward()
    optimizer.step()
