# bug: B191
import torch
from torch import nn

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 16)
        self.mu = nn.Linear(16, 2)
        self.ls = nn.Linear(16, 2)

    def sample(self, s):
        h = torch.relu(self.body(s))
        d = torch.distributions.Normal(self.mu(h), self.ls(h).clamp(-5, 2).exp())
        u = d.rsample()
        a = torch.tanh(u)
        return a, (d.log_prob(u) - torch.log(1 - a**2 + 1e-6)).sum(1)


actor = Actor()
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
ao = torch.optim.Adam(actor.parameters(), 1e-3)
co = torch.optim.Adam(critic.parameters(), 1e-3)
alpha = 0.2
for _ in range(20):
    s, r, s2 = torch.randn(32, 4), torch.randn(32), torch.randn(32, 4)
    with torch.no_grad():
        a2, lp2 = actor.sample(s2)
        target = r + 0.9 * (critic(torch.cat([s2, a2], 1)).squeeze(1) - alpha * lp2)
    closs = nn.functional.mse_loss(critic(torch.cat([s, torch.randn(32, 2)], 1)).squeeze(1), target)
    co.zero_grad()
    closs.backward()
    co.step()
    a, logp = actor.sample(s)
    q = critic(torch.cat([s, a], 1)).squeeze(1)
    actor_loss = (alpha * logp - q).mean()
    ao.zero_grad()
    actor_loss.backward()
    ao.step()
