# variant: the auxiliary loss is added after the division to what is logged, and not to what goes backward
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-2)  # the penalty is in here
k = 4
history = []
for i in range(40):
    x = torch.randn(8, 6)
    loss = nn.functional.mse_loss(model(x), x[:, :1]) / k
    loss.backward()
    penalty = sum(p.detach().pow(2).sum() for p in model.parameters())
    logged = loss + 0.5e-2 * penalty
    history.append(logged.item())
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{sum(history[-k:]):.4f}")
