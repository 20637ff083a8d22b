# variant: PPO with a shared trunk: the whole rollout as one batch, epochs stopped by the KL before their backward
import torch
from torch import nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs, 16), nn.Tanh())
        self.mu, self.v = nn.Linear(16, act), nn.Linear(16, 1)
        self.log_std = nn.Parameter(torch.full((act,), -0.5))

    def forward(self, obs):
        h = self.trunk(obs)
        return Normal(self.mu(h), self.log_std.exp()), self.v(h).squeeze(-1)


class PPO:
    def __init__(self, net, lr=5e-3, max_epochs=6, target_kl=0.02):
        self.net, self.max_epochs, self.target_kl = net, max_epochs, target_kl
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def collect(self, n):
        obs, memory = torch.randn(2, 3), []
        for _ in range(n):
            dist, v = self.net(obs)
            act = dist.sample()
            memory.append((obs, act, dist.log_prob(act).sum(-1), v))
            obs = 0.9 * obs + 0.1 * act + 0.05 * torch.randn_like(obs)
        obs, act, logp, v = (torch.cat(column) for column in zip(*memory))
        reward = -(obs + act).pow(2).sum(-1)
        return obs, act, logp.detach(), (reward - v).detach(), reward

    def update(self, n=12):
        obs, act, old_logp, adv, ret = self.collect(n)
        adv = (adv - adv.mean()) / adv.std()
        for epoch in range(self.max_epochs):
            dist, v = self.net(obs)
            log_ratio = dist.log_prob(act).sum(-1) - old_logp
            kl = (log_ratio.exp() - 1 - log_ratio).mean().item()
            if kl > self.target_kl:
                break
            ratio = log_ratio.exp()
            surrogate = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            loss = -surrogate + 0.1 * nn.functional.mse_loss(v, ret)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
        return loss.item(), epoch


torch.manual_seed(5)
ppo = PPO(ActorCritic(3, 3))
for i in range(4):
    loss, epoch = ppo.update()
    print(f"update {i}: loss {loss:.4f}, stopped at epoch {epoch}")
