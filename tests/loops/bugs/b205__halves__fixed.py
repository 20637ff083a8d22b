# bug: B205
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, rounds):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    halves = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for _ in range(rounds):
        batches = iter(loader)
        for _ in range(len(loader)):
            x, y = next(batches)
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        halves.step()
    return loss.item()


torch.manual_seed(0)
rows = TensorDataset(torch.randn(64, 6), torch.randint(3, (64,)))
print(train(nn.Linear(6, 3), DataLoader(rows, batch_size=8, shuffle=True), 6))
