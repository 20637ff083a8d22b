# variant: an actor and a critic, each with its own loss; both are clipped, then both step
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)

for update in range(10):
    states = torch.randn(32, 3)
    policy = Normal(actor(states), 0.3)
    actions = policy.sample()
    returns = -(actions - states[:, :1]).pow(2)
    values = critic(states)

    critic_loss = nn.functional.mse_loss(values, returns)
    critic_optimizer.zero_grad()
    critic_loss.backward()

    actor_loss = -(policy.log_prob(actions) * (returns - values.detach())).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()

    nn.utils.clip_grad_norm_(critic.parameters(), 0.1)
    nn.utils.clip_grad_norm_(actor.parameters(), 0.1)
    actor_optimizer.step()
    critic_optimizer.step()

print(f"{critic_loss.item():.4f}")
