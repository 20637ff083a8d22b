# variant: SAC agent: optimizers for ensemble, actor and temperature; actor every second update, critics frozen by with
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def frozen(*modules):
    params = [p for m in modules for p in m.parameters()]
    for p in params:
        p.requires_grad_(False)
    yield
    for p in params:
        p.requires_grad_(True)


class Ensemble(nn.Module):
    def __init__(self, n_in, n):
        super().__init__()
        self.members = nn.ModuleList(nn.Sequential(nn.Linear(n_in, 12), nn.ELU(), nn.Linear(12, 1)) for _ in range(n))

    def forward(self, obs, act):
        x = torch.cat([obs, act], -1)
        return torch.cat([m(x) for m in self.members], -1)


class Agent:
    def __init__(self, obs=4, act=1, gamma=0.98, tau=0.02):
        self.gamma, self.tau, self.target_entropy = gamma, tau, -float(act)
        self.actor = nn.Sequential(nn.Linear(obs, 12), nn.ELU(), nn.Linear(12, 2 * act))
        self.critic, self.critic_target = Ensemble(obs + act, 3), Ensemble(obs + act, 3)
        self.critic_target.load_state_dict(self.critic.state_dict())
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.critic_opt = torch.optim.AdamW(self.critic.parameters(), lr=1e-3)
        self.actor_opt = torch.optim.AdamW(self.actor.parameters(), lr=1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-3)
        self.updates = 0

    def policy(self, obs):
        mean, log_std = self.actor(obs).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        action = raw.tanh()
        return action, (dist.log_prob(raw) - (1 - action**2 + 1e-6).log()).sum(-1, keepdim=True)

    def update(self, obs, act, rew, nxt):
        self.updates += 1
        with torch.no_grad():
            a2, logp2 = self.policy(nxt)
            v2 = self.critic_target(nxt, a2).min(-1, keepdim=True).values - self.log_alpha.exp() * logp2
            y = rew + self.gamma * v2
        critic_loss = (self.critic(obs, act) - y).pow(2).mean(0).sum()
        self.critic_opt.zero_grad(set_to_none=True)
        critic_loss.backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), 10.0)
        self.critic_opt.step()
        if self.updates % 2 == 0:
            with frozen(self.critic):
                a, logp = self.policy(obs)
                actor_loss = (self.log_alpha.exp().detach() * logp - self.critic(obs, a).mean(-1, keepdim=True)).mean()
                self.actor_opt.zero_grad(set_to_none=True)
                actor_loss.backward()
                self.actor_opt.step()
            alpha_loss = -self.log_alpha * (logp.mean().item() + self.target_entropy)
            self.alpha_opt.zero_grad(set_to_none=True)
            alpha_loss.backward()
            self.alpha_opt.step()
        for p, target in zip(self.critic.parameters(), self.critic_target.parameters()):
            target.data.lerp_(p.data, self.tau)
        return critic_loss.item()


torch.manual_seed(2)
agent = Agent()
for _ in range(16):
    loss = agent.update(torch.randn(12, 4), torch.rand(12, 1) * 2 - 1, torch.randn(12, 1), torch.randn(12, 4))
print(f"{loss:.4f} {agent.log_alpha.exp().item():.4f}")
