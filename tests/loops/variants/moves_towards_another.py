# variant: A mixture z + 0.5 * (q - z), a sum x + (f(x) - x), and a return that is an advantage plus the value.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(9)
code, other, value = nn.Linear(5, 5), nn.Linear(5, 5), nn.Linear(5, 1)
optimizer = torch.optim.Adam([*code.parameters(), *other.parameters(), *value.parameters()], lr=1e-2)
for _ in range(8):
    x = torch.randn(16, 5)
    z, q = code(x), other(x)
    z = z + 0.5 * (q - z)
    z = z + (torch.tanh(z) - z)
    v = value(z.detach())
    gains = x.sum(1, keepdim=True) - v
    returns = gains + v
    loss = F.mse_loss(z, x) + 0.5 * F.mse_loss(v, returns) + 1e-3 * gains.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
