# bug: B143
# id: gradient-not-changed
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
for _ in range(15):
    x = torch.randn(32, 4)
    loss = nn.functional.mse_loss(model(x), 5 * x.prod(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    for p in model.parameters():
        g = p.grad
        if g is not None:
            g = g.clamp(-0.01, 0.01)  # <-- bug
    optimizer.step()
