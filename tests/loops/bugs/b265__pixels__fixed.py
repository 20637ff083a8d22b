# bug: B265
"""Of two losses of the same images one is a mean over pixels, and that of their edges as well."""

import torch
from torch import nn


def edges(images):
    return images[..., 1:, 1:] - images[..., :-1, :-1]


def edge_loss(made, real):
    return (edges(made) - edges(real)).abs().mean()


def corner_loss(made, real):
    return (edges(edges(made)) - edges(edges(real))).abs().mean()


def pixel_loss(made, real):
    return (edges(made) - edges(real.flip(3).flip(3))).abs().mean()


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(8):
    real = torch.rand(4, 3, 12, 12)
    made = model(real + 0.1 * torch.randn_like(real))
    loss = pixel_loss(made, real) + 0.5 * edge_loss(made, real) + 0.1 * corner_loss(made, real)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
