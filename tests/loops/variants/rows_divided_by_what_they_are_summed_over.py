# variant: sums are divided by their rows, and means by a window with as many micro-batches as each has rows
import torch
from torch import nn

torch.manual_seed(1)

model = nn.Linear(5, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data, labels = torch.randn(64, 5), torch.randint(0, 3, (64,))
batch_size = 4

for rows in torch.randperm(64).split(8):
    x, y = data[rows], labels[rows]
    loss = nn.functional.cross_entropy(model(x), y, reduction="sum") / x.size(0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for rows in torch.randperm(64).split(8):
    logp = model(data[rows]).log_softmax(-1)
    picked = logp[torch.arange(len(rows)), labels[rows]]
    loss = -picked.sum() / len(rows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

optimizer.zero_grad()
for number, rows in enumerate(torch.randperm(64).split(batch_size)):
    loss = nn.functional.cross_entropy(model(data[rows]), labels[rows]) / batch_size
    loss.backward()
    if (number + 1) % batch_size == 0:
        optimizer.step()
        optimizer.zero_grad()
