# variant: Weights in bfloat16 that do not move while the learning rate warms up from zero, and do so afterwards.
import torch
from torch import nn

torch.manual_seed(8)
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step / 60) ** 4))
for _ in range(80):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x.bfloat16()).float(), x[:, :1].sin())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
