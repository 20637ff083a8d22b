# variant: the first group's rate is annealed, that of the second, which began at another one, is meant to stay
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(6, 12), nn.Linear(12, 1)
optimizer = torch.optim.SGD([{"params": body.parameters(), "lr": 0.1}, {"params": head.parameters(), "lr": 0.01}])
for step in range(20):
    optimizer.param_groups[0]["lr"] = 0.1 * 0.9**step
    x = torch.randn(8, 6)
    loss = nn.functional.mse_loss(head(body(x).relu()), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
