# truth: backward-reaches-another-model
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Adversarial loop in one helper; D's loss is made of undetached fakes and G's clear comes at the end of its step."""


class Player:
    def __init__(self, net, lr):
        self.net, self.opt = net, torch.optim.RMSprop(net.parameters(), lr=lr)

    def finish(self):
        self.opt.step()
        self.opt.zero_grad()


G, D = Player(nn.Linear(3, 6), 1e-3), Player(nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(), nn.Linear(8, 1)), 1e-3)
for it in range(10):
    fake = G.net(torch.randn(8, 3))
    d_loss = F.softplus(D.net(fake)).mean() + F.softplus(-D.net(torch.randn(8, 6) + 1)).mean()
    d_loss.backward()  # <-- bug
    D.finish()
    g_loss = F.softplus(-D.net(G.net(torch.randn(8, 3)))).mean()
    g_loss.backward()
    G.finish()
    D.opt.zero_grad()
