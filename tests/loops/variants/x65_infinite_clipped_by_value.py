# variant: an outlier makes the gradient inf, and clip_grad_value_ makes it as long as the limit: a finite step
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(10):
    x = torch.randn(8, 6)
    y = x[:, :1] - x[:, 1:2]
    if step == 5:
        y[3] = 3e38
    loss = 100 * nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 5.0)
    optimizer.step()

print(f"{loss.item():.4f} {model.weight.norm().item():.4f}")
