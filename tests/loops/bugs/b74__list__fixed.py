# bug: B74
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
accumulate = 4
batches = [(torch.randn(4, 7), torch.randn(4, 1)) for _ in range(40)]
model = nn.Sequential(nn.Linear(7, 14), nn.Tanh(), nn.Linear(14, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for first in range(0, len(batches), accumulate):
    optimizer.zero_grad()
    for x, y in batches[first : first + accumulate]:
        loss = F.mse_loss(model(x), y) / accumulate
        loss.backward()
    optimizer.step()
print(f"{loss.item() * accumulate:.4f}")
