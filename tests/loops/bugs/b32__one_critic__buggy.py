# bug: B32
# id: summand-without-graph
import torch
from torch import nn

torch.manual_seed(2)


def critic(width):
    return nn.Sequential(nn.Linear(width, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))


generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
wide, narrow = critic(6), critic(3)
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
d_optimizer = torch.optim.Adam([*wide.parameters(), *narrow.parameters()], lr=2e-3, betas=(0.5, 0.9))


def each(x, y):
    return [wide(x), narrow(y[:, ::2])]


def hinge(scores, sign):
    losses = torch.zeros(len(scores))
    for k, score in enumerate(scores):
        losses[k] = torch.relu(1 - sign * score).mean()
    return losses.mean()


for step in range(20):
    real, fake = torch.randn(16, 6) + 2, generator(torch.randn(16, 4))
    d_loss = hinge(each(real, real), 1) + hinge(each(fake.detach(), fake.detach()), -1)
    d_optimizer.zero_grad()
    d_loss.backward()
    nn.utils.clip_grad_norm_([*wide.parameters(), *narrow.parameters()], 5.0)
    d_optimizer.step()

    scores = each(fake, fake.detach())
    g_loss = hinge(scores, 1) + 0.1 * fake.pow(2).mean()  # <-- bug
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
