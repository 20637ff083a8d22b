# bug: B244
# id: summand-without-graph
import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2))
        self.score = nn.Linear(16, 1)

    def forward(self, x):
        features = self.features(x)
        return self.score(features), features


torch.manual_seed(4)
generator = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 8))
critic = Critic()
g_opt = torch.optim.Adam(generator.parameters(), lr=2e-3)
d_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)
for step in range(12):
    x = torch.randn(16, 6)
    real = torch.cat([x, x[:, :2]], dim=1).tanh()
    fake = generator(x)

    d_opt.zero_grad()
    said_real, said_fake = critic(real)[0], critic(fake.detach())[0]
    d_loss = F.softplus(-said_real).mean() + F.softplus(said_fake).mean()
    d_loss.backward()
    d_opt.step()

    g_opt.zero_grad()
    said, of_fake = critic(fake.detach())  # <-- bug
    matching = F.l1_loss(of_fake, critic(real)[1].detach())
    g_loss = F.l1_loss(fake, real) + 0.1 * F.softplus(-said).mean() + matching
    g_loss.backward()
    g_opt.step()
print(f"{d_loss.item():.3f} {g_loss.item():.3f}")
