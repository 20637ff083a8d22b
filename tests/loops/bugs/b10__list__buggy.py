# bug: B10
# id: tail-leaks-into-next-epoch
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
accumulation_steps = 4
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(10)]

optimizer.zero_grad()
for epoch in range(3):
    for i, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:  # <-- bug
            optimizer.step()
            optimizer.zero_grad()
    print(end=f"{loss.item():.4f} ")
print()
