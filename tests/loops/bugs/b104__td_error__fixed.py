# bug: B104
import torch
from torch import nn

torch.manual_seed(1)
critic = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
discount = 0.97


def critic_loss(obs, reward, next_obs):
    td_error = reward + discount * critic(next_obs).detach() - critic(obs)
    return td_error.pow(2).mean()


obs = torch.randn(12, 3)
for _ in range(15):
    next_obs = 0.9 * obs + 0.2 * torch.randn_like(obs)
    loss = critic_loss(obs, obs.sum(1, keepdim=True), next_obs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    obs = next_obs
