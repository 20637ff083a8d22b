# bug: B170
# id: backward-reaches-another-model
import torch
from torch import nn
from torch.utils.data import DataLoader


class Gan:
    def __init__(self):
        self.g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
        self.d = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
        self.opt_g = torch.optim.SGD(self.g.parameters(), lr=0.05)
        self.opt_d = torch.optim.SGD(self.d.parameters(), lr=0.05)
        self.criterion = nn.BCEWithLogitsLoss()

    def train_step(self, real):
        fake = self.g(torch.randn(len(real), 4))
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        loss_d = self.criterion(self.d(real), ones) + self.criterion(self.d(fake), zeros)
        loss_g = self.criterion(self.d(fake), ones)
        self.opt_d.zero_grad()
        loss_d.backward(retain_graph=True)
        self.opt_g.zero_grad()
        loss_g.backward()  # <-- bug
        self.opt_d.step()
        self.opt_g.step()
        return loss_d.item(), loss_g.item()


torch.manual_seed(1)
gan = Gan()
for _ in range(3):
    for batch in DataLoader(torch.randn(64, 6) + 2, batch_size=16, shuffle=True):
        losses = gan.train_step(batch)
print(losses)
