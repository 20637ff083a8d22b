# bug: B135
# id: summand-without-graph
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 4))
critic = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
for_policy = torch.optim.Adam(policy.parameters(), lr=1e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)


def act(state):
    mean, log_std = policy(state).chunk(2, dim=-1)
    normal = Normal(mean, log_std.clamp(-4, 1).exp())
    raw = normal.sample()  # <-- bug
    action = raw.tanh()
    likelihood = normal.log_prob(raw) - (1 - action.pow(2) + 1e-6).log()
    return action, likelihood.sum(-1, keepdim=True)


for _ in range(10):
    state, taken = torch.randn(16, 3), torch.rand(16, 2) * 2 - 1
    reward = -(state[:, :2] - taken).pow(2).sum(1, keepdim=True)
    value_loss = nn.functional.mse_loss(critic(torch.cat([state, taken], 1)), reward)
    for_critic.zero_grad()
    value_loss.backward()
    for_critic.step()

    action, likelihood = act(state)
    policy_loss = (0.1 * likelihood - critic(torch.cat([state, action], 1))).mean()
    for_policy.zero_grad()
    policy_loss.backward()
    for_policy.step()
