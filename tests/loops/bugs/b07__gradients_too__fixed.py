# bug: B07
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
accumulation_steps = 4
for step in range(10):
    optimizer.zero_grad()
    for _ in range(accumulation_steps):
        x = torch.randn(5, 6)
        loss = F.cross_entropy(model(x), x[:, :3].argmax(1)) / accumulation_steps
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
