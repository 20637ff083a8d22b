# bug: B262
# id: schedule-made-anew
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


class Trainer:
    def __init__(self, net, batches, num_epochs):
        self.net, self.batches, self.num_epochs = net, batches, num_epochs
        self.optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        self.total = num_epochs * len(batches)

    def fit(self):
        for epoch in range(self.num_epochs):
            schedule = CosineAnnealingLR(self.optimizer, T_max=self.total)  # <-- bug
            loss = self.one_epoch(schedule)
            print(epoch, f"{loss:.4f}")

    def one_epoch(self, schedule):
        for x, y in self.batches:
            loss = nn.functional.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            schedule.step()
        return loss.item()


torch.manual_seed(0)
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(6)]
Trainer(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)), batches, 5).fit()
