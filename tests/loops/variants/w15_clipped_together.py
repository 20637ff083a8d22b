# variant: both models are clipped before the step of each, and what the other one holds is cleared later
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(6, 1)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(24):
    state, action = torch.randn(16, 4), torch.randn(16, 2)
    value = critic(torch.cat([state, action], dim=1))
    loss = F.mse_loss(value, 4 * state[:, :1])
    critic_optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(critic.parameters(), 0.1)
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([state, actor(state)], dim=1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    for model in (actor, critic):
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    actor_optimizer.step()
print(f"{loss:.4f} {actor_loss:.4f}")
