# bug: B98
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Experiment:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
        self.best = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
        self.best.load_state_dict(self.model.state_dict())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)

    def run(self, loader):
        for x, y in loader:
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(1)
data = TensorDataset(torch.randn(96, 6), torch.randint(3, (96,)))
Experiment().run(DataLoader(data, batch_size=8))
