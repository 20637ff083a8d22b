# variant: SAC-like Polyak targets inside one agent module: trained in train mode, the optimizers get their parts alone
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Agent(nn.Module):
    def __init__(self, obs=4, actions=3):
        super().__init__()
        self.q = nn.ModuleList(nn.Sequential(nn.Linear(obs, 16), nn.ReLU(), nn.Linear(16, actions)) for _ in range(2))
        self.q_target = copy.deepcopy(self.q)
        self.pi = nn.Sequential(nn.Linear(obs, 16), nn.ReLU(), nn.Linear(16, actions))


def polyak(source, target, tau):
    for s, t in zip(source.parameters(), target.parameters()):
        t.data.copy_(tau * s.data + (1 - tau) * t.data)


torch.manual_seed(0)
agent = Agent()
q_opt = torch.optim.Adam(agent.q.parameters(), lr=3e-3)
pi_opt = torch.optim.Adam(agent.pi.parameters(), lr=3e-3)
memory = [(torch.randn(16, 4), torch.randint(3, (16,)), torch.randn(16), torch.randn(16, 4)) for _ in range(10)]
for obs, action, reward, after in memory:
    with torch.no_grad():
        logp = F.log_softmax(agent.pi(after), -1)
        best = torch.min(*(q(after) for q in agent.q_target))
        goal = reward + 0.9 * (logp.exp() * (best - 0.1 * logp)).sum(-1)
    q_loss = sum(F.mse_loss(q(obs).gather(1, action[:, None]).squeeze(1), goal) for q in agent.q)
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()

    logp = F.log_softmax(agent.pi(obs), -1)
    with torch.no_grad():
        value = torch.min(*(q(obs) for q in agent.q))
    pi_loss = (logp.exp() * (0.1 * logp - value)).sum(-1).mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    polyak(agent.q, agent.q_target, tau=0.05)
