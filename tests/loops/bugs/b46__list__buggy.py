# bug: B46
# id: closure-without-zeroing
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(24, 10, dtype=torch.float64)
y = torch.randn(24, 2, dtype=torch.float64)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.2, max_iter=4)


def closure():
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <-- bug
    return loss


for _ in range(6):
    loss = optimizer.step(closure)  # <-- bug
print(f"loss {loss.item():.4g}")
