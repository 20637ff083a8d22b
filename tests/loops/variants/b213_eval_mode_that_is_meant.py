# variant: a model trained in eval mode on purpose, by the function that said train() before; one whose eval() is put
# right by the train() of each batch; one that nothing in it tells apart
import torch
import torch.nn.functional as F
from torch import nn


def net(*layers):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), *layers, nn.ReLU(), nn.Linear(16, 3))


@torch.no_grad()
def accuracy(model, batches):
    model.eval()
    return sum((model(x).argmax(1) == y).float().mean().item() for x, y in batches) / len(batches)


def pretrained_statistics(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    model.eval()  # small batches: the statistics of the pretrained model stay
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def measured_first(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for x, y in batches:
        accuracy(model, batches[:1])
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def alike_in_both(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for x, y in batches:
        accuracy(model, batches[:1])
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


batches = [(x, x[:, :3].argmax(1)) for x in torch.randn(8, 16, 6)]
pretrained_statistics(net(nn.BatchNorm1d(16)), batches)
measured_first(net(nn.BatchNorm1d(16), nn.Dropout(0.2)), batches)
alike_in_both(net(nn.LayerNorm(16)), batches)
