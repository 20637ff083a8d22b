# bug: B109
# id: score-of-moving-sample
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.last = nn.Linear(4, 16), nn.Linear(16, 2)

    def forward(self, states):
        mean, log_deviation = self.last(torch.tanh(self.body(states))).chunk(2, dim=1)
        return mean, log_deviation.clamp(-3, 1)


def play(states, actions):
    return -(actions - states[:, :1].sin()).abs()


torch.manual_seed(3)
policy = Policy()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
for _ in range(10):
    states = torch.randn(40, 4)
    mean, log_deviation = policy(states)
    actions = mean + log_deviation.exp() * torch.randn(40, 1)
    rewards = play(states, actions.detach())
    distance = (actions - mean) / log_deviation.exp()  # <-- bug
    log_prob = -0.5 * distance.square() - log_deviation
    loss = -(log_prob * (rewards - rewards.mean())).mean()  # <-- bug
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
