# bug: B282
# id: loss-weight-not-read
"""An autoencoder's adversarial loss has a weight among the options, which nothing reads."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--adv-weight", type=float, default=0.05)
args = parser.parse_args([])

torch.manual_seed(0)
coder = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 8))
critic = nn.Sequential(nn.Linear(8, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
of_coder = torch.optim.Adam(coder.parameters(), lr=args.lr)
of_critic = torch.optim.Adam(critic.parameters(), lr=args.lr)
for _ in range(10):
    x = torch.randn(16, 8)
    made = coder(x)
    loss = F.mse_loss(made, x)
    adv_loss = F.softplus(-critic(made)).mean()
    loss = loss + adv_loss  # <-- bug
    of_coder.zero_grad()
    loss.backward()
    of_coder.step()
    of_critic.zero_grad()
    (F.softplus(critic(made.detach())).mean() + F.softplus(-critic(x)).mean()).backward()
    of_critic.step()
