# bug: B32
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(6, 8)
        self.right = nn.Linear(6, 8)
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, a, b):
        left = torch.tanh(self.left(a))
        right = torch.tanh(self.right(b))
        return self.scale * (left - right).square().sum(1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def fit(self, loader):
        for a, b, same in loader:
            self.optimizer.zero_grad()
            distance = self.model(a, b)
            loss = torch.where(same, distance, (1 - distance).clamp(min=0)).mean()
            loss.backward()
            self.optimizer.step()
        return loss.item()


torch.manual_seed(1)
data = TensorDataset(torch.randn(48, 6), torch.randn(48, 6), torch.rand(48) > 0.5)
print(Trainer(Siamese()).fit(DataLoader(data, batch_size=8)))
