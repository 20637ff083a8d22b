# variant: no accumulation: the main loss is a sum over four time steps divided by four, the auxiliary one is not
import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.GRUCell(3, 8), nn.Linear(8, 3)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
T = 4
for step in range(10):
    x = torch.randn(6, T + 1, 3)
    h = torch.zeros(6, 8)
    main, activation = 0.0, 0.0
    for t in range(T):
        h = cell(x[:, t], h)
        main = main + nn.functional.mse_loss(head(h), x[:, t + 1])
        activation = activation + h.pow(2).mean()
    loss = main / T + 0.01 * activation
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
