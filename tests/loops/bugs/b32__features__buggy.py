# bug: B32
# id: graph-cut
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
head = nn.Linear(16, 3)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)

for _ in range(8):
    x, y = torch.randn(8, 10), torch.randint(0, 3, (8,))
    with torch.no_grad():  # <-- bug
        features = encoder(x)  # <-- bug
    loss = F.cross_entropy(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # <-- bug
print(loss.item())
