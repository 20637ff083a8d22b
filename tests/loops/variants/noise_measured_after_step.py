# variant: after each step a second batch goes backward, and the norm of its gradient is printed; then all is cleared
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
    optimizer.zero_grad()
    probe = torch.randn(16, 6)
    nn.functional.mse_loss(model(probe), probe[:, :1]).backward()
    print(f"{sum(p.grad.norm() ** 2 for p in model.parameters()) ** 0.5:.3f}")
