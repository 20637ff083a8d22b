# variant: the loss of the end of a path is divided by its length, and the costs of its steps are listed.
import torch
from torch import nn

torch.manual_seed(0)
length = 5
step = nn.Linear(3, 3)
optimizer = torch.optim.SGD(step.parameters(), lr=0.1)
for _ in range(15):
    state, costs = torch.randn(8, 3), []
    for _ in range(length):
        state = state + 0.2 * torch.tanh(step(state))
        ahead = state - 1
        cost = ahead.pow(2).mean()
        costs.append(cost)
    loss = costs[-1] / length
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
