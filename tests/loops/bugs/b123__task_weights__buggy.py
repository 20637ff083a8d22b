# bug: B123
# id: gradients-nobody-uses
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 2))
log_vars = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # <-- bug
for step in range(24):
    x = torch.randn(8, 6)
    out = model(x)
    one, two = F.mse_loss(out[:, 0], x[:, 0]), F.mse_loss(out[:, 1], x[:, 1])
    loss = torch.exp(-log_vars[0]) * one + log_vars[0] + torch.exp(-log_vars[1]) * two + log_vars[1]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(log_vars.tolist())
