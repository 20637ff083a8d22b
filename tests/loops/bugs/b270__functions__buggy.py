# bug: B270
# id: average-once-an-epoch
import copy

import torch
from torch import nn


def train_one_epoch(model, batches, optimizer):
    model.train()
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def accumulate(average, model, decay=0.99):
    mine = dict(model.named_parameters())
    for name, param in average.named_parameters():
        param.data.mul_(decay).add_(mine[name].data, alpha=1 - decay)


def main(num_epochs=6):
    batches = [(torch.randn(8, 5), torch.randn(8, 1)) for _ in range(5)]
    model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
    average = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(num_epochs):
        loss = train_one_epoch(model, batches, optimizer)
        accumulate(average, model)  # <-- bug
        print(epoch, f"{loss:.4f}")
    return average


torch.manual_seed(6)
main()
