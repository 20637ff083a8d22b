# variant: SAC: three optimizers, the critics' requires_grad switched off while the actor's loss goes through them
import copy
from itertools import chain

import torch
import torch.nn.functional as F
from torch import nn


class SquashedGaussian(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, 16), nn.ReLU())
        self.mu, self.log_std = nn.Linear(16, act), nn.Linear(16, act)

    def forward(self, obs):
        h = self.net(obs)
        std = self.log_std(h).clamp(-5, 2).exp()
        dist = torch.distributions.Normal(self.mu(h), std)
        u = dist.rsample()
        logp = dist.log_prob(u).sum(-1) - (2 * (0.6931 - u - F.softplus(-2 * u))).sum(-1)
        return torch.tanh(u), logp


torch.manual_seed(0)
actor = SquashedGaussian(3, 2)
q1, q2 = (nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0)) for _ in range(2))
targets = copy.deepcopy(nn.ModuleList([q1, q2])).requires_grad_(False)
log_alpha = nn.Parameter(torch.tensor(-1.0))
q_params = list(chain(q1.parameters(), q2.parameters()))
pi_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
q_optimizer = torch.optim.Adam(q_params, lr=1e-3)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=3e-3)

for update in range(12):
    obs, act, rew, obs2 = torch.randn(16, 3), torch.rand(16, 2) * 2 - 1, torch.randn(16), torch.randn(16, 3)
    with torch.no_grad():
        act2, logp2 = actor(obs2)
        sa2 = torch.cat([obs2, act2], 1)
        backup = rew + 0.99 * (torch.min(targets[0](sa2), targets[1](sa2)) - log_alpha.exp() * logp2)
    sa = torch.cat([obs, act], 1)
    q_optimizer.zero_grad()
    loss_q = ((q1(sa) - backup) ** 2).mean() + ((q2(sa) - backup) ** 2).mean()
    loss_q.backward()
    q_optimizer.step()

    for p in q_params:
        p.requires_grad = False
    pi_optimizer.zero_grad()
    pi, logp = actor(obs)
    sa_pi = torch.cat([obs, pi], 1)
    loss_pi = (log_alpha.exp().detach() * logp - torch.min(q1(sa_pi), q2(sa_pi))).mean()
    loss_pi.backward()
    pi_optimizer.step()
    for p in q_params:
        p.requires_grad = True

    alpha_optimizer.zero_grad()
    loss_alpha = -(log_alpha * (logp.detach() - 2.0)).mean()
    loss_alpha.backward()
    alpha_optimizer.step()

    with torch.no_grad():
        for p, p_target in zip(q_params, targets.parameters()):
            p_target.mul_(0.995).add_(0.005 * p)
print(f"q {loss_q.item():.4f} pi {loss_pi.item():.4f} alpha {log_alpha.exp().item():.4f}")
