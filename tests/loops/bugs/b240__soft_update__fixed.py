# bug: B240
import copy

import torch
from torch import nn


def soft_update(target, source, tau):
    kept, new = target.state_dict(), source.state_dict()
    for key in new:
        kept[key] = (1 - tau) * kept[key] + tau * new[key]
    target.load_state_dict(kept)


torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(critic)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
state = torch.randn(16, 3)
for step in range(30):
    action = torch.randint(0, 2, (16, 1))
    reward = torch.where(action == 0, state[:, :1], -state[:, 1:2])
    following = 0.9 * state + 0.1 * torch.randn(16, 3)
    with torch.no_grad():
        goal = reward + 0.9 * target(following).amax(1, keepdim=True)
    loss = nn.functional.mse_loss(critic(state).gather(1, action), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    soft_update(target, critic, tau=0.05)
    state = following
print(f"{loss.item():.4f}")
