# variant: WGAN-GP class: the critic is cleared after G's update as well, the penalty is part of the critic's loss
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, 16), nn.LayerNorm(16), nn.SiLU())
        self.score = nn.Linear(16, 1)

    def forward(self, x):
        return self.score(self.body(x)).squeeze(1)


class WGANGP:
    def __init__(self, dim=3, nz=2, n_critic=2, gp_weight=10.0):
        self.nz, self.n_critic, self.gp_weight = nz, n_critic, gp_weight
        self.gen = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(), nn.Linear(16, dim))
        self.critic = Critic(dim)
        self.opt_gen = torch.optim.AdamW(self.gen.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.opt_critic = torch.optim.AdamW(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.iteration = 0

    def penalty(self, real, fake):
        mixed = torch.lerp(fake, real, torch.rand(len(real), 1)).requires_grad_(True)
        grad = torch.autograd.grad(self.critic(mixed).sum(), mixed, create_graph=True)[0]
        return (grad.norm(dim=1) - 1).square().mean()

    def training_step(self, real):
        self.iteration += 1
        with torch.no_grad():
            fake = self.gen(torch.randn(len(real), self.nz))
        critic_loss = self.critic(fake).mean() - self.critic(real).mean()
        critic_loss = critic_loss + self.gp_weight * self.penalty(real, fake)
        critic_loss.backward()
        self.opt_critic.step()
        self.opt_critic.zero_grad()
        logs = {"critic": critic_loss.item()}
        if self.iteration % self.n_critic == 0:
            gen_loss = -self.critic(self.gen(torch.randn(len(real), self.nz))).mean()
            gen_loss.backward()
            self.opt_gen.step()
            self.opt_gen.zero_grad()
            self.opt_critic.zero_grad()
            logs["gen"] = gen_loss.item()
        return logs


torch.manual_seed(3)
model = WGANGP()
for i in range(16):
    logs = model.training_step(torch.randn(12, 3) * 0.5 + 1.0)
print({k: round(v, 4) for k, v in logs.items()})
