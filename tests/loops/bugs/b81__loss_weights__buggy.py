# bug: B81
# id: gradients-nobody-uses
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MultiTaskLoss(nn.Module):
    """Weighs the losses of several tasks by log-variances that are learned along with the model."""

    def __init__(self, tasks):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(tasks))

    def forward(self, losses):
        losses = torch.stack(losses)
        return (torch.exp(-self.log_vars) * losses + self.log_vars).sum()


class TwoHeads(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, 16), nn.ReLU())
        self.depth, self.labels = nn.Linear(16, 1), nn.Linear(16, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.depth(h).squeeze(-1), self.labels(h)


def train(model, criterion, loader):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # <-- bug
    model.train()
    criterion.train()
    for x, depth, labels in loader:
        found_depth, found_labels = model(x)
        loss = criterion([F.l1_loss(found_depth, depth), F.cross_entropy(found_labels, labels)])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
x = torch.randn(96, 6)
data = TensorDataset(x, 20 * x[:, 0], torch.randint(4, (96,)))
train(TwoHeads(), MultiTaskLoss(2), DataLoader(data, batch_size=8, shuffle=True))
