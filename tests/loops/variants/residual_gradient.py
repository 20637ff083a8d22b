# variant: The target is not detached on purpose: the residual gradient algorithm descends on the Bellman error itself.
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
gamma, state = 0.9, torch.randn(10, 3)
for _ in range(12):
    following = 0.9 * state
    target = state.sum(1, keepdim=True) + gamma * critic(following)
    loss = nn.functional.mse_loss(critic(state), target)  # residual gradient: both sides move
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = following + 0.1 * torch.randn(10, 3)
