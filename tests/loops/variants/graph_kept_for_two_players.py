# variant: two optimizers step one after the other on the gradients of one forward, as in a simultaneous game
import torch
from torch import nn

torch.manual_seed(0)
x_player, y_player = nn.Linear(4, 1), nn.Linear(4, 1)
first = torch.optim.SGD(x_player.parameters(), lr=0.05)
second = torch.optim.SGD(y_player.parameters(), lr=0.05)
for _ in range(12):
    z = torch.randn(16, 4)
    a, b = x_player(z), y_player(z)
    loss = (a * b + 0.1 * a**2 - 0.1 * b**2).mean()
    first.zero_grad()
    loss.backward(retain_graph=True)
    first.step()
    second.zero_grad()
    (-loss).backward()
    second.step()
