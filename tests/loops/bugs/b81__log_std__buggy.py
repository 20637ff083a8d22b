# bug: B81
# id: gradients-nobody-uses
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
        self.log_std = nn.Parameter(torch.zeros(2))

    def forward(self, states):
        return torch.distributions.Normal(self.net(states), self.log_std.exp())


class Learner(nn.Module):
    def __init__(self, policy):
        super().__init__()
        self.policy = policy
        self.value = nn.Linear(3, 1)
        self.value_optimizer = torch.optim.Adam(self.value.parameters(), lr=1e-2)
        self.policy_optimizer = torch.optim.Adam(self.policy.net.parameters(), lr=1e-3)  # <-- bug

    def update(self, states, actions, rewards):
        value = self.value(states).squeeze(-1)
        self.value_optimizer.zero_grad()
        (value - rewards).square().mean().backward()
        self.value_optimizer.step()
        weight = (rewards - value.detach()).exp().clamp(max=10)
        loss = -(weight * self.policy(states).log_prob(actions).sum(-1)).mean()
        self.policy_optimizer.zero_grad()
        loss.backward()
        self.policy_optimizer.step()


torch.manual_seed(0)
learner = Learner(Policy())
for _ in range(20):
    learner.update(torch.randn(32, 3), torch.randn(32, 2), torch.randn(32))
