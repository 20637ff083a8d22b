# truth: tail-leaks-into-next-epoch
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset


class Accumulator:
    def __init__(self, opt, k):
        self.opt, self.k, self.n = opt, k, 0

    def reset(self):
        self.n = 0

    def __call__(self, loss):
        (loss / self.k).backward()
        self.n += 1
        if self.n == self.k:  # <-- bug
            self.opt.step()  # <-- bug
            self.opt.zero_grad()
            self.n = 0


x = torch.randn(44, 6)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
acc = Accumulator(torch.optim.ASGD(net.parameters(), lr=1e-2), 4)
for epoch in range(3):
    acc.reset()  # <-- bug
    for xb, yb in loader:
        acc(F.mse_loss(net(xb), yb))
