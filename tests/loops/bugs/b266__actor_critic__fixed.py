# bug: B266
import torch
from torch import nn


class Agent:
    def __init__(self, states, actions):
        self.actor = nn.Sequential(nn.Linear(states, 16), nn.Tanh(), nn.Linear(16, actions), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(states + actions, 16), nn.ReLU(), nn.Linear(16, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def critic_loss(self, state, action, value):
        return nn.functional.mse_loss(self.critic(torch.cat([state, action], 1)), value)

    def warm_up(self, batches):
        for batch in batches:
            self.critic_opt.zero_grad()
            self.critic_loss(*batch).backward()
            self.critic_opt.step()

    def update_critic(self, *batch):
        self.critic_opt.zero_grad()
        self.critic_loss(*batch).backward()
        self.critic_opt.step()

    def update_actor(self, state):
        loss = -self.critic(torch.cat([state, self.actor(state)], 1)).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()
        self.actor_opt.zero_grad()
        return loss.item()


def batch(state, action):
    return state, action, -(state[:, :2] - action).pow(2).sum(1, keepdim=True)


torch.manual_seed(0)
agent = Agent(4, 2)
agent.warm_up([batch(torch.randn(16, 4), torch.rand(16, 2)) for _ in range(4)])
for step in range(12):
    state = torch.randn(16, 4)
    with torch.no_grad():
        action = agent.actor(state) + 0.1 * torch.randn(16, 2)
    agent.update_critic(*batch(state, action))
    loss = agent.update_actor(state)
    if step % 4 == 0:
        print(step, f"{loss:.4f}")
