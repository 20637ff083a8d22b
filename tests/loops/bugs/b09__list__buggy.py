# bug: B09
# id: tail-dropped
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(10)]
n = len(batches)

for epoch in range(3):
    optimizer.zero_grad()  # <-- bug
    for i, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y) / k
        loss.backward()
        if (i + 1) % k == 0:  # <-- bug
            optimizer.step()
            optimizer.zero_grad()
print(loss.item())
