# bug: B88
# id: advantage-not-detached
import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self, clip=0.2):
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=3e-3)
        self.clip = clip

    def update(self, states, actions, old_log_probs, returns):
        for _ in range(4):
            dist = torch.distributions.Categorical(logits=self.actor(states))
            values = self.critic(states).squeeze(-1)
            ratio = (dist.log_prob(actions) - old_log_probs).exp()
            advantages = returns - values  # <-- bug
            surrogate = ratio * advantages
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip) * advantages
            loss = -torch.min(surrogate, clipped).mean() + 0.5 * F.mse_loss(values, returns)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
agent = Agent()
for episode in range(6):
    states = torch.randn(24, 4)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=agent.actor(states))
        actions = dist.sample()
        old_log_probs = dist.log_prob(actions)
    returns = (actions == states[:, :3].argmax(-1)).float() + 0.1 * states[:, 3]
    print(f"{episode}: {agent.update(states, actions, old_log_probs, returns):.3f}")
