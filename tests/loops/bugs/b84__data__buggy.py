# bug: B84
# id: graph-cut
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
lower = nn.Linear(10, 16)
upper = nn.Linear(16, 1)
optimizer = torch.optim.SGD(list(lower.parameters()) + list(upper.parameters()), lr=0.05, momentum=0.9)
batches = [(torch.randn(12, 10), torch.randn(12, 1)) for _ in range(12)]


def standardised(h):
    values = h.data  # <-- bug
    return (values - values.mean(0)) / (values.std(0) + 1e-5)


for i, (x, y) in enumerate(batches):
    h = torch.tanh(lower(x))
    loss = F.mse_loss(upper(standardised(h)), y) / 2
    loss.backward()
    if (i + 1) % 2 == 0:
        optimizer.step()
        optimizer.zero_grad()
print(loss.item() * 2)
