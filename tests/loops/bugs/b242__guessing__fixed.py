# bug: B242
import torch
from torch import nn


def guess(model, views, temperature):
    mean = torch.stack([model(view).softmax(1) for view in views]).mean(0)
    sharp = mean ** (1 / temperature)
    return sharp / sharp.sum(1, keepdim=True)


class Criterion:
    def __call__(self, said, y, said_u, targets_u, weight):
        labelled = -(said.log_softmax(1) * y).sum(1).mean()
        return labelled + weight * ((said_u.softmax(1) - targets_u) ** 2).mean()


def train(model, labelled, unlabelled, steps):
    criterion, optimizer = Criterion(), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model.train()
    for step in range(steps):
        x, y = labelled
        u1, u2 = (unlabelled + 0.1 * torch.randn_like(unlabelled) for _ in range(2))
        with torch.no_grad():
            targets_u = guess(model, (u1, u2), 0.5)
        loss = criterion(model(x), y, model(u1), targets_u, min(1.0, step / 5) * 10)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(6)
model = nn.Sequential(nn.Flatten(), nn.Linear(9, 20), nn.ReLU(), nn.Linear(20, 3))
labelled = torch.randn(12, 3, 3), torch.eye(3)[torch.randint(0, 3, (12,))]
print(f"{train(model, labelled, torch.randn(36, 3, 3), 15):.4f}")
