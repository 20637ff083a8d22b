# bug: B82
# id: one-of-two-optimizers-zeroed
"""The generator is cleared before the loop, and the critic in it."""

import torch
from torch import nn


def train(generator, critic, of_generator, of_critic, batches):
    generator.zero_grad()  # <-- bug
    for real in batches:
        critic.zero_grad()
        made = generator(torch.randn(16, 4)).detach()
        (critic(made).mean() - critic(real).mean()).backward()
        of_critic.step()
        critic.requires_grad_(False)
        (-critic(generator(torch.randn(16, 4))).mean()).backward()
        of_generator.step()
        critic.requires_grad_(True)


torch.manual_seed(0)
generator, critic = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
of_generator = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
of_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
train(generator, critic, of_generator, of_critic, torch.randn(12, 16, 8))
