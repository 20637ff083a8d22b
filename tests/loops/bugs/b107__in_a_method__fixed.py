# bug: B107
import torch
from torch import nn
from torch.distributions import Normal


class PPO:
    def __init__(self, clip=0.2):
        self.mean, self.clip = nn.Linear(3, 1), clip
        self.optimizer = torch.optim.SGD(self.mean.parameters(), lr=0.05)

    def log_prob(self, states, actions):
        return Normal(self.mean(states), 0.5).log_prob(actions).sum(-1)

    @torch.no_grad()
    def act(self, states):
        actions = self.mean(states) + 0.5 * torch.randn(len(states), 1)
        return actions, self.log_prob(states, actions)

    def update(self, states, actions, drawn, gains, epochs=5):
        for _ in range(epochs):
            ratio = (self.log_prob(states, actions) - drawn).exp()
            loss = torch.max(-gains * ratio, -gains * ratio.clamp(1 - self.clip, 1 + self.clip)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(1)
agent = PPO()
for _ in range(3):
    states = torch.randn(24, 3)
    actions, drawn = agent.act(states)
    agent.update(states, actions, drawn, -(actions[:, 0] - states.sum(1)).abs())
