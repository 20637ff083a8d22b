# variant: double DQN agent: the q-values of acting are kept with their graphs for a log, an update per environment step
import copy
import random

import torch
from torch import nn


class ReplayBuffer:
    def __init__(self, size):
        self.size, self.rows = size, []

    def push(self, *row):
        self.rows = (self.rows + [row])[-self.size :]

    def sample(self, n):
        columns = zip(*random.sample(self.rows, n))
        return [torch.stack([torch.as_tensor(v) for v in column]) for column in columns]


class Agent:
    def __init__(self, obs, actions):
        self.online = nn.Sequential(nn.Linear(obs, 20), nn.Tanh(), nn.Linear(20, actions))
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.optimizer = torch.optim.AdamW(self.online.parameters(), lr=3e-3, amsgrad=True)
        self.buffer = ReplayBuffer(64)
        self.acted = []
        self.epsilon = 0.3

    def act(self, obs):
        q = self.online(obs)
        self.acted.append(q.max())
        return random.randrange(q.numel()) if random.random() < self.epsilon else q.argmax().item()

    def learn(self, tau=0.05, gamma=0.9):
        s, a, r, s2 = self.buffer.sample(8)
        chosen = self.online(s2).argmax(1, keepdim=True)
        y = r.unsqueeze(1) + gamma * self.target(s2).gather(1, chosen)
        loss = nn.functional.huber_loss(self.online(s).gather(1, a.unsqueeze(1)), y)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(self.online.parameters(), 100)
        self.optimizer.step()
        for p, p_target in zip(self.online.parameters(), self.target.parameters()):
            p_target.data.mul_(1 - tau).add_(p.data, alpha=tau)
        return loss.item()


if __name__ == "__main__":
    random.seed(3)
    torch.manual_seed(3)
    agent = Agent(4, 3)
    for episode in range(3):
        obs = torch.randn(4)
        for _ in range(10):
            action = agent.act(obs)
            next_obs = torch.roll(obs, action) + 0.1 * torch.randn(4)
            agent.buffer.push(obs, action, next_obs[0].item(), next_obs)
            obs = next_obs
            loss = agent.learn() if len(agent.buffer.rows) >= 8 else float("nan")
        mean_q = sum(agent.acted).item() / len(agent.acted)
        agent.acted.clear()
        print(f"episode {episode} loss {loss:.4f} mean q {mean_q:.3f}")
