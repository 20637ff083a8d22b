# variant: a reader that is trained for a while by its own loss, then frozen: the writer begins with its state, cut
import torch
from torch import nn

torch.manual_seed(0)
reader, writer = nn.GRU(4, 16, batch_first=True), nn.GRU(4 + 16, 16, batch_first=True)
sums, words = nn.Linear(16, 1), nn.Linear(16, 4)
first = torch.optim.Adam([*reader.parameters(), *sums.parameters()], lr=1e-3)
second = torch.optim.Adam([*writer.parameters(), *words.parameters()], lr=1e-3)
for step in range(12):
    x = torch.randn(8, 6, 4)
    seen, state = reader(x)
    own = (sums(seen).squeeze(2) - x.sum(2).cumsum(1)).pow(2).mean()
    first.zero_grad()
    own.backward()
    first.step()
    text, _ = writer(torch.cat([x.roll(1, 1), seen.data], 2), state.data)
    loss = (words(text) - x).pow(2).mean()
    second.zero_grad()
    loss.backward()
    second.step()
