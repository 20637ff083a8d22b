# variant: momentum by hand: a buffer per parameter lives across steps, and the buffer itself becomes .grad
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
smooth = {p: torch.zeros_like(p) for p in model.parameters()}
for step in range(10):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    loss.backward()
    for p in model.parameters():
        smooth[p] = 0.9 * smooth[p] + 0.1 * p.grad
        p.grad = smooth[p].clone()
    optimizer.step()

print(f"{loss.item():.4f}")
