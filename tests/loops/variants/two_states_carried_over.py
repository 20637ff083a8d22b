# variant: two recurrent networks, one above the other, whose states are cut between two chunks and nowhere else
import torch
from torch import nn

torch.manual_seed(0)
low, high = nn.GRU(3, 12), nn.LSTM(12, 12)
head = nn.Linear(12, 3)
params = [*low.parameters(), *high.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1)
stream = torch.randn(60, 4, 3)
a, b = torch.zeros(1, 4, 12), (torch.zeros(1, 4, 12), torch.zeros(1, 4, 12))
for at in range(0, 54, 6):
    a, b = a.data, tuple(one.data for one in b)
    middle, a = low(stream[at : at + 6], a)
    top, b = high(middle, b)
    loss = (head(top) - stream[at + 1 : at + 7]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
