# variant: weights decay to where they began, to a teacher that moves once a round, and are blended with a reference
import copy

import torch
from torch import nn


def decay(model, start, rate):
    for p, q in zip(model.parameters(), start.parameters()):
        p.data = p.data - rate * (p.data - q.data)


def pull(student, ema):
    with torch.no_grad():
        for p, q in zip(student.parameters(), ema.parameters()):
            p.mul_(0.98).add_(q, alpha=0.02)


def train(model, steps, after):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        x = torch.randn(16, 6)
        loss = nn.functional.mse_loss(model(x), x.roll(1, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after(step)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 6))
start = copy.deepcopy(net)
train(net, 40, lambda step: decay(net, start, 0.01))

student = copy.deepcopy(net)
ema = copy.deepcopy(net)


def by_turns(step):
    pull(student, ema)
    if step % 6 == 5:
        with torch.no_grad():
            for q, p in zip(ema.parameters(), student.parameters()):
                q.lerp_(p, 0.3)


train(student, 40, by_turns)
reference = [p.detach().clone() for p in net.parameters()]
last = copy.deepcopy(net)


def blend(step):
    with torch.no_grad():
        for p, q in zip(last.parameters(), reference):
            p.copy_(0.9 * p + 0.1 * q)


train(last, 40, blend)
