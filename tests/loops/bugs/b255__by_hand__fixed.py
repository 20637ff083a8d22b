# bug: B255
import torch
import torch.nn.functional as F
from torch import nn


class Agent:
    def __init__(self, steps):
        self.actor, self.critic, self.steps = nn.Linear(4, 2), nn.Linear(4, 1), steps
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-2)

    def decay(self, step):
        left = 1 - step / self.steps
        for group in self.actor_optimizer.param_groups:
            group["lr"] = 3e-3 * left
        for group in self.critic_optimizer.param_groups:
            group["lr"] = 1e-2 * left

    def update(self, states, actions, returns):
        values = self.critic(states).squeeze(-1)
        critic_loss = F.mse_loss(values, returns)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        chosen = self.actor(states).log_softmax(-1).gather(-1, actions[:, None]).squeeze(-1)
        actor_loss = -(chosen * (returns - values.detach())).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()


torch.manual_seed(0)
agent = Agent(steps=20)
for step in range(20):
    agent.decay(step)
    agent.update(torch.randn(16, 4), torch.randint(0, 2, (16,)), torch.randn(16))
