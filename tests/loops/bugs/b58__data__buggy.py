# bug: B58
# id: hidden-write
# needs: digests
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GradLogger:
    def __init__(self, model):
        self.model = model
        self.rows = []

    def log(self):
        row = {}
        for name, p in self.model.named_parameters():
            g = p.grad.data  # <-- bug
            row[name] = g.abs_().mean().item()  # <-- bug
        self.rows.append(row)


def train(model, loader):
    logger = GradLogger(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        logger.log()
        optimizer.step()
    return logger.rows


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
rows = train(net, DataLoader(TensorDataset(torch.randn(48, 5), torch.randint(0, 3, (48,))), batch_size=8))
print(len(rows), rows[-1]["0.weight"])
