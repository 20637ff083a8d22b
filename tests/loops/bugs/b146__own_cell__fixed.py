# bug: B146
import torch
from torch import nn


class Cell(nn.Module):
    """A cell with one gate, written by hand."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.both = nn.Linear(inputs + hidden, 2 * hidden)

    def forward(self, x, h):
        gate, new = self.both(torch.cat([x, h], dim=1)).chunk(2, dim=1)
        return torch.lerp(h, new.tanh(), gate.sigmoid())


class First(nn.Module):
    """Reads a sequence and says what its first symbol was."""

    def __init__(self, symbols=4, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.embed, self.cell = nn.Embedding(symbols, 8), Cell(8, hidden)
        self.out = nn.Linear(hidden, symbols)

    def forward(self, ids):
        h = torch.zeros(len(ids), self.hidden)
        for x in self.embed(ids).unbind(dim=1):
            h = self.cell(x, h)
        return self.out(h)


torch.manual_seed(0)
model = First()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    ids = torch.randint(4, (16, 6))
    loss = nn.functional.cross_entropy(model(ids), ids[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
