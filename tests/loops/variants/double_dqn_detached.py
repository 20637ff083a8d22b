# variant: double DQN: the online and the target network run on the next states with graphs, and are detached
import copy

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
for step in range(12):
    state, next_state = torch.randn(8, 4), torch.randn(8, 4)
    action, reward = torch.randint(0, 3, (8, 1)), torch.randn(8, 1)
    best = online(next_state).argmax(1, keepdim=True)
    future = target(next_state).gather(1, best).detach()
    loss = nn.functional.smooth_l1_loss(online(state).gather(1, action), reward + 0.99 * future)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, q in zip(online.parameters(), target.parameters()):
            q.lerp_(p, 0.05)

print(f"{loss.item():.4f}")
