# bug: B88
# id: advantage-not-detached
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.policy = nn.Linear(16, 3)
        self.value = nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return torch.distributions.Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


torch.manual_seed(0)
model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(12):
    states = torch.randn(24, 4)
    dist, values = model(states)
    actions = dist.sample()
    returns = (actions == states[:, :3].argmax(-1)).float() + 0.1 * states[:, 3]
    advantage = returns - values  # <-- bug
    policy_loss = -(dist.log_prob(actions) * advantage).mean()  # <-- bug
    value_loss = (returns - values).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
