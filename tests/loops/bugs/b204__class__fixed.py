# bug: B204
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, epochs):
        self.model, self.epochs = model, epochs
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, epochs // 2, gamma=0.5)
        self.criterion = nn.MSELoss()

    def one_epoch(self, loader):
        for x, y in loader:
            loss = self.criterion(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.schedule.step()
        return loss.item()

    def fit(self, loader):
        for epoch in range(self.epochs):
            print(epoch, self.one_epoch(loader))


torch.manual_seed(0)
data = TensorDataset(torch.randn(48, 4), torch.randn(48, 1))
Trainer(nn.Linear(4, 1), 4).fit(DataLoader(data, batch_size=8))
