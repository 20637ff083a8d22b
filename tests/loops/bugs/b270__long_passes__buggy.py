# bug: B270
# id: average-once-an-epoch
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, beta=0.998):
        self.net = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 2))
        self.shadow = copy.deepcopy(self.net)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.beta = beta

    def _train_on(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def _take_in(self):
        source = dict(self.net.named_parameters())
        for name, target in self.shadow.named_parameters():
            target.copy_(self.beta * target + (1.0 - self.beta) * source[name])

    def fit(self, loader, epochs):
        for epoch in range(1, epochs + 1):
            for x, y in loader:
                loss = self._train_on(x, y)
            self._take_in()  # <-- bug
            print(epoch, f"{loss:.4f}")


torch.manual_seed(11)
data = TensorDataset(torch.randn(160, 4), torch.randint(0, 2, (160,)))
Trainer().fit(DataLoader(data, batch_size=2, shuffle=True), epochs=3)
