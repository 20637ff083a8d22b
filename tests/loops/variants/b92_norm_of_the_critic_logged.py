# variant: the norm of the critic's last gradient is read for the log, with an infinite limit, before the actor's step
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
log = []
for _ in range(10):
    obs = torch.randn(24, 4)
    dist = torch.distributions.Categorical(logits=actor(obs))
    actions = dist.sample()
    rewards = (actions == obs[:, :3].argmax(-1)).float()
    values = critic(obs).squeeze(-1)

    critic_optimizer.zero_grad()
    (values - rewards).pow(2).mean().backward()
    critic_optimizer.step()

    actor_optimizer.zero_grad()
    (-dist.log_prob(actions) * (rewards - values.detach())).mean().backward()
    norm = nn.utils.clip_grad_norm_(critic.parameters(), float("inf"))
    actor_optimizer.step()
    log.append({"reward": rewards.mean().item(), "critic_norm": norm.item()})

print(log[-1])
