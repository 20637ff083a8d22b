# bug: B05
# id: zeroed-inside-window
# window: 4
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(4, 10), torch.randn(4, 2)) for _ in range(24)]
accumulation_steps = 4

for i, (x, y) in enumerate(batches):
    optimizer.zero_grad()  # <-- bug
    loss = F.mse_loss(model(x), y) / accumulation_steps
    loss.backward()
    if (i + 1) % accumulation_steps == 0:
        optimizer.step()

print(loss.item())
