# variant: one loss trains an energy, and a sampler that follows its slope; the slope is the sampler's target alone
import torch
from torch import nn

torch.manual_seed(0)
energy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
drift = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam([*energy.parameters(), *drift.parameters()], lr=1e-2)


def gap(x):
    slope = torch.autograd.grad(energy(x).sum(), x)[0]
    return slope + drift(x)


for _ in range(12):
    data, noise = torch.randn(16, 2) + 1, torch.randn(16, 2)
    contrast = energy(data).mean() - energy(noise).mean() + energy(data).pow(2).mean()
    loss = contrast + (gap(noise.requires_grad_(True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
