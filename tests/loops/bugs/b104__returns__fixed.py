# bug: B104
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
        self.policy, self.value = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, x):
        hidden = self.body(x)
        return torch.distributions.Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


def n_step_returns(rewards, last_value, gamma=0.95):
    returns, running = [], last_value
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.insert(0, running)
    return torch.stack(returns)


torch.manual_seed(2)
model = ActorCritic()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
state = torch.randn(8, 3)
for _ in range(10):
    log_probs, values, rewards = [], [], []
    for _ in range(5):
        dist, value = model(state)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(value)
        rewards.append(state[:, 0] * action)
        state = 0.9 * state + 0.3 * torch.randn(8, 3)
    returns = n_step_returns(rewards, model(state)[1].detach())
    values = torch.stack(values)
    advantage = (returns - values).detach()
    loss = -(torch.stack(log_probs) * advantage).mean() + 0.5 * nn.functional.mse_loss(values, returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
