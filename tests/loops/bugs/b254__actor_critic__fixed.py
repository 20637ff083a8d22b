# bug: B254
import torch
from torch import nn


def nets(states=4, actions=2):
    actor = nn.Sequential(nn.Linear(states, 16), nn.Tanh(), nn.Linear(16, actions))
    critic = nn.Sequential(nn.Linear(states, 16), nn.Tanh(), nn.Linear(16, 1))
    return actor, critic


torch.manual_seed(3)
actor, critic = nets()
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(20):
    states = torch.randn(24, 4)
    chosen = torch.distributions.Categorical(logits=actor(states))
    actions = chosen.sample()
    returns = states.sum(1) + actions.float()
    values = critic(states).squeeze(1)
    advantage = (returns - values).detach()
    policy = -(chosen.log_prob(actions) * advantage).mean()
    actor.zero_grad()
    critic.zero_grad()
    (policy + 0.5 * (returns - values).pow(2).mean()).backward()
    norms = [nn.utils.clip_grad_norm_(net.parameters(), 1.0) for net in (actor, critic)]
    actor_optimizer.step()
    critic_optimizer.step()
print(f"{sum(norms).item():.4f}")
