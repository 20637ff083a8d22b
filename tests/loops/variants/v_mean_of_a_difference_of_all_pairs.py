# variant: a column beside a vector, of whose difference only the mean is taken: that is the difference of the two means
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(4, 1)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

for step in range(40):
    state, reward = torch.randn(16, 3), torch.randn(16, 1)
    with torch.no_grad():
        mean, _ = actor(state).chunk(2, dim=1)
    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, mean], 1)), reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    mean, log_std = actor(state).chunk(2, dim=1)
    policy = torch.distributions.Normal(mean, log_std.exp())
    action = policy.rsample()
    log_probability = policy.log_prob(action).sum(-1)  # 16 numbers, and the critic gives a column of 16
    actor_loss = (0.2 * log_probability - critic(torch.cat([state, action], 1))).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
