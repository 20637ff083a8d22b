# variant: the loss of an unrolled sequence is divided by its sixteen steps, and windows hold sixteen sequences.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
LENGTH = PARTS = 16
cell, head = nn.GRUCell(3, 8), nn.Linear(8, 3)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)


class Helper:
    def backward(self, loss):
        loss = loss / PARTS
        loss.backward()


helper = Helper()
for _ in range(3):
    optimizer.zero_grad()
    for _ in range(PARTS):
        x, state, total = torch.randn(2, LENGTH + 1, 3), torch.zeros(2, 8), 0
        for at in range(LENGTH):
            state = cell(x[:, at], state)
            total += F.mse_loss(head(state), x[:, at + 1])
        helper.backward(total / LENGTH)
    optimizer.step()
print(f"{total.item() / LENGTH:.4f}")
