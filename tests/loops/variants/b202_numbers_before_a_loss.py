# variant: numbers are added in front of a loss: a constant of the data, and what is trained by its own summand
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    x, y = torch.randn(16, 6), torch.randn(16, 2)
    out = net(x)
    # (y - out)² written out: its first part is the data's alone.
    loss = y.square().mean().item() + (out.square() - 2 * y * out).mean()
    decay = net.weight.square().sum()
    # What is shown has the decay in it twice; what is trained has it once.
    loss = decay.item() + (loss + decay)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
