# bug: B37
# id: batchnorm-per-micro-batch
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 4, 3),
    nn.BatchNorm2d(4),  # <-- bug
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(64, 3),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
batches = [(torch.randn(4, 1, 6, 6), torch.randint(0, 3, (4,))) for _ in range(24)]

for i, (x, y) in enumerate(batches):
    loss = F.cross_entropy(model(x), y) / k  # <-- bug
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
print(loss.item())
