# bug: B246
import random

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.body = nn.Linear(states + actions, 32)
        self.value = nn.Linear(32, 1)

    def forward(self, state, action):
        return self.value(F.relu(self.body(torch.cat([state, action], dim=-1)))).squeeze(-1)


class Agent:
    def __init__(self, states=4, actions=2, tau=0.01):
        self.tau = tau
        self.critic = Critic(states, actions)
        self.target_critic = Critic(states, actions)
        self.actor = nn.Linear(states, actions)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.soft_update(self.target_critic, self.critic, tau=1)
        self.memory = []

    @staticmethod
    def soft_update(target, online, tau):
        for theirs, mine in zip(target.parameters(), online.parameters()):
            theirs.data.copy_(tau * mine.data + (1 - tau) * theirs.data)

    def save(self, path):
        torch.save({"critic": self.critic.state_dict(), "target": self.target_critic.state_dict()}, path)

    def learn(self, size=16):
        states, actions, rewards, after = map(torch.stack, zip(*random.sample(self.memory, size)))
        with torch.no_grad():
            wanted = rewards + 0.99 * self.target_critic(after, self.actor(after))
        loss = F.mse_loss(self.critic(states, actions), wanted)
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()

        policy_loss = -self.critic(states, self.actor(states)).mean()
        self.actor_optimizer.zero_grad()
        policy_loss.backward()
        self.actor_optimizer.step()
        self.soft_update(self.target_critic, self.critic, self.tau)
        return loss.item()


random.seed(0)
torch.manual_seed(0)
agent = Agent()
state = torch.randn(4)
for step in range(160):
    action = agent.actor(state).detach() + 0.1 * torch.randn(2)
    after = 0.9 * state + 0.1 * torch.randn(4)
    agent.memory.append((state, action, -after.norm(), after))
    state = after
    if len(agent.memory) >= 32:
        loss = agent.learn()
print(f"{loss:.4f}")
