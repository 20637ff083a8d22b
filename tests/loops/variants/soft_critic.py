# variant: The target of the critic reaches the actor; what that leaves on it is cleared before it is used.
import torch
from torch import nn

torch.manual_seed(10)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic, late = nn.Linear(4, 1), nn.Linear(4, 1).requires_grad_(False)
late.load_state_dict(critic.state_dict())
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def draw(state):
    mean, spread = actor(state).chunk(2, dim=1)
    dist = torch.distributions.Normal(mean, spread.clamp(-3, 1).exp())
    action = dist.rsample()
    return action, dist.log_prob(action)


for _ in range(12):
    state, action, following = torch.randn(16, 3), torch.randn(16, 1), torch.randn(16, 3)
    reward = state[:, :1] * action
    next_action, log_prob = draw(following)
    target = reward + 0.99 * (late(torch.cat([following, next_action], 1)) - 0.1 * log_prob)
    loss = nn.functional.mse_loss(critic(torch.cat([state, action], 1)), target)
    critic_optimizer.zero_grad()
    loss.backward()
    critic_optimizer.step()
    own, log_prob = draw(state)
    loss = (0.1 * log_prob - critic(torch.cat([state, own], 1))).mean()
    actor_optimizer.zero_grad()
    loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for theirs, mine in zip(late.parameters(), critic.parameters()):
            theirs.lerp_(mine, 0.05)
