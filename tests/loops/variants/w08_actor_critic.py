# variant: actor and critic with an optimizer each, advantage detached
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optim = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_optim = torch.optim.Adam(critic.parameters(), lr=1e-2)
gamma = 0.99

state = torch.randn(4)
for t in range(12):
    dist = Categorical(logits=actor(state))
    action = dist.sample()
    next_state = 0.9 * state + 0.1 * (2 * action - 1) + 0.05 * torch.randn(4)
    reward = -next_state.pow(2).sum()
    with torch.no_grad():
        target = reward + gamma * critic(next_state)
    value = critic(state)
    advantage = target - value

    critic_loss = advantage.pow(2).mean()
    actor_loss = -(dist.log_prob(action) * advantage.detach()).mean()

    critic_optim.zero_grad()
    critic_loss.backward()
    critic_optim.step()

    actor_optim.zero_grad()
    actor_loss.backward()
    actor_optim.step()
    state = next_state

print(f"actor {actor_loss.item():.4f} critic {critic_loss.item():.4f}")
