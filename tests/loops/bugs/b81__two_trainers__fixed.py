# bug: B81
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, width), nn.ReLU())
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        return self.head(self.body(x))


class Member:
    def __init__(self, model, trained):
        self.model = model
        self.optimizer = self.configure(trained)

    def configure(self, trained):
        optimizer = torch.optim.SGD(trained.parameters(), lr=0.1, momentum=0.9)
        return optimizer

    def train_on(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
small, large = Net(8), Net(32)
ensemble = []
ensemble.append(Member(small, small))
ensemble.append(Member(large, large))
for _ in range(8):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    losses = [member.train_on(x, y) for member in ensemble]
print(" ".join(f"{loss:.3f}" for loss in losses))
