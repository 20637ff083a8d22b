# bug: B131
import torch
from torch import autograd, nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)

    def penalty(self, real, fake):
        x = torch.lerp(real, fake, torch.rand(len(real), 1)).requires_grad_(True)
        slope = autograd.grad(self(x).sum(), x, create_graph=True)[0]
        return (slope.norm(2, dim=1) - 1).square().mean()


torch.manual_seed(3)
critic, maker = Critic(), nn.Linear(2, 3)
steps = {m: torch.optim.Adam(m.parameters(), lr=1e-3, betas=(0.0, 0.9)) for m in (critic, maker)}
for _ in range(8):
    real, fake = torch.randn(16, 3) + 1, maker(torch.randn(16, 2))
    penalty = critic.penalty(real, fake.detach())
    loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * penalty
    steps[critic].zero_grad()
    loss.backward()
    steps[critic].step()
    steps[maker].zero_grad()
    (-critic(maker(torch.randn(16, 2)))).mean().backward()
    steps[maker].step()
