# bug: B275
# id: weights-written-before-backward
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    logits = model(x)
    for p in model.parameters():
        p.data.mul_(1 - 0.02)  # <-- bug
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
