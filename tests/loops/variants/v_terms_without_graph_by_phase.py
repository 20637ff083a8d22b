# variant: the likelihood keeps a constant of the data, and the loss of every phase keeps the term of what is frozen for
# the whole of it, for its first steps, or until another call
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
rates = nn.Linear(5, 1)
optimizer = torch.optim.SGD(rates.parameters(), 0.01)
for _ in range(12):
    x = torch.randn(32, 5)
    counts = torch.poisson(x.sum(1, keepdim=True).clamp(-1, 1).exp())
    said = rates(x)
    constant = torch.lgamma(counts + 1).mean()
    loss = (said.exp() - counts * said).mean() + constant
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(8, 6), nn.Linear(3, 8)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        return self.dec(mu + torch.randn_like(mu) * (0.5 * logvar).exp()), mu, logvar


def train(model, optimizer, frozen, steps):
    for step in range(steps):
        model.enc.requires_grad_(step >= frozen)
        x = torch.randn(32, 8)
        out, mu, logvar = model(x)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        loss = F.mse_loss(out, x) + 0.01 * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


model = Coder()
train(model, torch.optim.Adam(model.parameters(), 1e-3), 10, 20)
model = Coder()
train(model, torch.optim.Adam(model.dec.parameters(), 1e-3), 12, 12)

world, policy = nn.Linear(6, 6), nn.Linear(6, 6)
optimizer = torch.optim.Adam([*world.parameters(), *policy.parameters()], 1e-3)


def phase(learns, steps):
    for _ in range(steps):
        x = torch.randn(32, 6)
        with torch.set_grad_enabled(learns):
            known = F.mse_loss(world(x), x.tanh())
        loss = F.mse_loss(policy(x), x.tanh()) + known
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


phase(False, 6)
phase(True, 12)
