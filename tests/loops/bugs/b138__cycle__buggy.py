# bug: B138
# id: one-of-two-optimizers-zeroed
import torch
from torch import nn


def net():
    return nn.Sequential(nn.Linear(4, 12), nn.LeakyReLU(0.2), nn.Linear(12, 4))


def critic():
    return nn.Sequential(nn.Linear(4, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))


torch.manual_seed(0)
there, back, critic_a, critic_b = net(), net(), critic(), critic()
opt_g = torch.optim.Adam([*there.parameters(), *back.parameters()], lr=1e-3)
opt_a = torch.optim.Adam(critic_a.parameters(), lr=1e-3)
opt_b = torch.optim.Adam(critic_b.parameters(), lr=1e-3)
mse = nn.functional.mse_loss
one, zero = torch.ones(8, 1), torch.zeros(8, 1)

for _ in range(20):
    a, b = torch.randn(8, 4), torch.randn(8, 4) + 2

    opt_g.zero_grad()
    fake_b, fake_a = there(a), back(b)
    loss = mse(critic_b(fake_b), one) + mse(critic_a(fake_a), one) + mse(back(fake_b), a) + mse(there(fake_a), b)
    loss.backward()
    opt_g.step()

    opt_a.zero_grad()
    loss_a = (mse(critic_a(a), one) + mse(critic_a(fake_a.detach()), zero)) / 2
    loss_a.backward()
    opt_a.step()

    opt_a.zero_grad()  # <-- bug
    loss_b = (mse(critic_b(b), one) + mse(critic_b(fake_b.detach()), zero)) / 2
    loss_b.backward()
    opt_b.step()
