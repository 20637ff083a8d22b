# bug: B187
# id: penalty-without-graph
import torch
from torch import nn


class Decay:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
        self.compare = nn.SmoothL1Loss()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def train(self, steps):
        for _ in range(steps):
            t = torch.rand(32, 1, requires_grad=True)
            u = self.net(t)
            du = torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True)[0]  # <-- bug
            law = du + u
            start = self.compare(self.net(torch.zeros(1, 1)), torch.ones(1, 1))
            loss = self.compare(torch.zeros_like(law), law) + start
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(0)
Decay().train(20)
