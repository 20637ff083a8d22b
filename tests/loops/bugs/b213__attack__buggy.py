# bug: B213
# id: train-mode-taken-back
"""Adversarial training: the attack runs in eval mode, and leaves the model there."""

import torch
import torch.nn.functional as F
from torch import nn


def perturbed(model, x, y, eps=0.1, steps=3):
    model.eval()  # <-- bug
    delta = torch.zeros_like(x).uniform_(-eps, eps)
    for _ in range(steps):
        delta.requires_grad_(True)
        loss = F.cross_entropy(model(x + delta), y)
        (grad,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + 0.05 * grad.sign()).clamp(-eps, eps)
    return (x + delta).detach()


def train_epoch(model, optimizer, batches):
    model.train()
    for x, y in batches:
        x_adv = perturbed(model, x, y)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x_adv), y)
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
batches = [(x, x[:, :3].argmax(1)) for x in torch.randn(8, 16, 6)]
for _ in range(3):
    train_epoch(model, optimizer, batches)
