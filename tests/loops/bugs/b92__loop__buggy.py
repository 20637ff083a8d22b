# bug: B92
# id: clipped-another-model
"""A loop over both optimizers unscales each, and clips the critic each time."""

import torch
from torch import nn

torch.manual_seed(0)
critic, actor = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)), nn.Linear(6, 2)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
of_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
for _ in range(8):
    x = torch.randn(16, 6)
    of_critic.zero_grad()
    of_actor.zero_grad()
    scaler.scale((critic(x) - x[:, :1]).square().mean()).backward()
    scaler.scale((actor(x) - x[:, 1:3]).square().mean()).backward()
    for optimizer in (of_critic, of_actor):
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(critic.parameters(), 1.0)  # <-- bug
    scaler.step(of_critic)
    scaler.step(of_actor)
    scaler.update()
