# bug: B44
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = [(torch.randn(6, 5), torch.rand(6, 1) < (0.1 if number in (3, 6, 11, 16) else 0.9)) for number in range(20)]
accum_steps = 4
for epoch in range(3):
    optimizer.zero_grad()
    for i, (x, mask) in enumerate(data):
        if mask.sum() >= 3:
            loss = F.mse_loss(model(x)[mask], x.sum(1, keepdim=True)[mask])
            (loss / accum_steps).backward()
        if (i + 1) % accum_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
