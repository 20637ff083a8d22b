# bug: B123
# id: gradients-nobody-uses
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
        self.critic = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
        self.log_alpha = nn.Parameter(torch.zeros(()))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def update(self, states, returns):
        values = self.critic(states)
        self.critic_optimizer.zero_grad()
        (values.mean(dim=1) - returns).square().mean().backward()
        self.critic_optimizer.step()

        log_probs = self.actor(states).log_softmax(dim=1)
        probs = log_probs.exp()
        entropy = -(probs * log_probs).sum(dim=1)
        loss = (probs * (self.log_alpha.exp().detach() * log_probs - values.detach())).sum(dim=1).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
        (self.log_alpha.exp() * (entropy.detach() - 0.7)).mean().backward()  # <-- bug


torch.manual_seed(2)
agent = Agent()
for _ in range(20):
    states = torch.randn(16, 3)
    agent.update(states, states.sum(dim=1))
print(agent.log_alpha.item())
