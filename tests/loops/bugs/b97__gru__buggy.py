# bug: B97
# id: state-without-graph
import torch
from torch import nn


class Remember(nn.Module):
    """Reads a sequence and says what its first symbol was."""

    def __init__(self, symbols=4, hidden=16):
        super().__init__()
        self.embed, self.cell = nn.Embedding(symbols, 8), nn.GRUCell(8, hidden)
        self.out = nn.Linear(hidden, symbols)

    def forward(self, ids):
        h = torch.zeros(ids.shape[0], self.cell.hidden_size)
        for x in self.embed(ids).unbind(dim=1):
            h = h.detach()  # <-- bug
            h = self.cell(x, h)
        return self.out(h)


torch.manual_seed(0)
model = Remember()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(12):
    ids = torch.randint(4, (16, 6))
    loss = nn.functional.cross_entropy(model(ids), ids[:, 0])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
