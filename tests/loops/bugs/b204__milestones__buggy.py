# bug: B204
# id: schedule-on-another-clock
from argparse import Namespace

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(config, model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=config.rate, momentum=0.9)
    decay = torch.optim.lr_scheduler.MultiStepLR(optimizer, config.drops, gamma=0.1)
    for epoch in range(1, config.epochs + 1):
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            decay.step()  # <-- bug
    return loss.item()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
data = DataLoader(TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,))), batch_size=8)
print(f"{train(Namespace(rate=0.05, drops=[5, 8], epochs=10), net, data):.4f}")
