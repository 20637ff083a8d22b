# bug: B97
import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.LSTMCell(1, 12), nn.Linear(12, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *readout.parameters()], lr=1e-2)

for step in range(8):
    series = torch.rand(10, 4, 1).cumsum(dim=0)
    h, c = torch.zeros(4, 12), torch.zeros(4, 12)
    loss, guesses = 0.0, []
    for now, following in zip(series[:-1], series[1:], strict=True):
        h, c = cell(now, (h, c))
        guess = readout(h)
        guesses.append(guess.detach())
        loss = loss + (guess - following).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(torch.stack(guesses).mean().item())
