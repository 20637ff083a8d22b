# bug: B213
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Dropout(0.3))
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


class Trainer:
    def __init__(self):
        self.net = Net()
        self.net.train()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-3)
        self.criterion = nn.MSELoss(reduction="none")

    @torch.no_grad()
    def hardest(self, x, y, keep):
        """The rows that the network does worst on."""
        self.net.eval()
        errors = self.criterion(self.net(x), y)
        self.net.train()
        return errors.topk(keep).indices

    def fit(self, pool):
        for x, y in pool:
            rows = self.hardest(x, y, 8)
            loss = self.criterion(self.net(x[rows]), y[rows]).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(1)
Trainer().fit([(x, x.square().sum(1)) for x in torch.randn(20, 32, 5)])
