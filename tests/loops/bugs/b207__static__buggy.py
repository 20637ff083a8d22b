# bug: B207
# id: penalty-without-graph
import torch
from torch import nn


class Losses:
    """What the critic and the generator minimize."""

    @staticmethod
    def critic(real_scores, fake_scores, slopes, weight):
        loss = fake_scores.mean() - real_scores.mean() + slopes * weight
        return loss

    @staticmethod
    def generator(fake_scores):
        return -fake_scores.mean()


def slopes_between(critic, real, fake):
    share = torch.rand(len(real), 1, requires_grad=True)
    mixed = share * real + (1 - share) * fake
    scores = critic(mixed)
    slope = torch.autograd.grad(scores, mixed, torch.ones_like(scores), retain_graph=True)[0]  # <-- bug
    return ((slope.norm(dim=1) - 1) ** 2).mean()


torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(15):
    real = torch.randn(16, 2) * 0.5 + 1
    fake = generator(torch.randn(16, 4))
    slopes = slopes_between(critic, real, fake.detach())
    opt_c.zero_grad()
    loss = Losses.critic(critic(real), critic(fake.detach()), slopes, 10.0)
    loss.backward()
    opt_c.step()
    if step % 3 == 2:
        opt_g.zero_grad()
        Losses.generator(critic(generator(torch.randn(16, 4)))).backward()
        opt_g.step()
