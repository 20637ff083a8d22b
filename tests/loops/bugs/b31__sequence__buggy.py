# bug: B31
# id: running-loss-backward
import torch
from torch import nn

torch.manual_seed(8)


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 5)
        self.out = nn.Linear(5, 3)

    def forward(self, x, h):
        h = self.cell(x, h)
        return self.out(h), h


def train_sequence(model, optimizer, sequence):
    optimizer.zero_grad()
    h = torch.zeros(sequence.size(1), 5)
    seq_loss = 0.0
    for t in range(len(sequence) - 1):
        prediction, h = model(sequence[t], h)
        seq_loss = seq_loss + nn.functional.mse_loss(prediction, sequence[t + 1])
        seq_loss.backward(retain_graph=True)  # <-- bug
    optimizer.step()
    return seq_loss.item()


model = Cell()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(6):
    value = train_sequence(model, optimizer, torch.randn(5, 4, 3))
print(f"sequence loss {value:.4f}")
