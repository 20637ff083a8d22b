# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""A dry run on the longest batch reserves memory before training; its gradients are thrown away."""


class Engine:
    def __init__(self, k):
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=1e-2)
        self.k = k

    def _backward(self, loss):
        (loss / self.k).backward()

    def micro(self, x):
        loss = F.mse_loss(self.net(x), x.sum(1, keepdim=True))
        self._backward(loss)
        return loss.item()

    def accumulate(self, batches):
        return sum(self.micro(b) for b in batches)

    def warm_up(self):
        self.accumulate([torch.randn(64, 6)])
        self.opt.zero_grad()

    def train(self, windows):
        for w in windows:
            self.accumulate(w)
            self.opt.step()
            self.opt.zero_grad()


e = Engine(4)
e.warm_up()
e.train([[torch.randn(8, 6) for _ in range(4)] for _ in range(6)])
