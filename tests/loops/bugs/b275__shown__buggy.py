# bug: B275
# id: weights-written-before-backward
import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], dim=1))


class Agent:
    def __init__(self):
        self.critic, self.target = Critic(), Critic()
        self.target.load_state_dict(self.critic.state_dict())
        self.target.requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.spread = []

    def update(self, state, action, reward, following):
        with torch.no_grad():
            wanted = reward + 0.9 * self.target(following, action)
        value = self.critic(state, action)
        weight = self.critic.net[0].weight.data.numpy()  # <-- bug
        weight -= weight.mean(axis=0)
        self.spread.append(float((weight**2).mean()))
        loss = F.mse_loss(value, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.critic.parameters()):
                slow.lerp_(fast, 0.05)


torch.manual_seed(4)
agent = Agent()
for _ in range(24):
    state, action, following = torch.randn(32, 4), torch.rand(32, 2), torch.randn(32, 4)
    agent.update(state, action, state[:, :1] * action[:, :1], following)
print(f"spread of the first layer: {agent.spread[-1]:.3f}")
