# bug: B110
# id: updates-rounded-away
import torch
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
model = model.to(torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)  # <-- bug
for _ in range(48):
    x = torch.randn(32, 8)
    y = x[:, :1] * x[:, 1:2]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        predicted = model(x)
    loss = nn.functional.mse_loss(predicted.float(), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
