# bug: B261
# id: clip-limit-not-positive
import argparse

import torch
from torch import nn
from torch.nn.utils import clip_grad_value_
from torch.utils.data import DataLoader, TensorDataset


def train(net, loader, optimizer, limit):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        clip_grad_value_(net.parameters(), limit)  # <-- bug
        optimizer.step()


parser = argparse.ArgumentParser()
parser.add_argument("--clip", type=float, default=-1.0, help="limit of each gradient; below zero: none")
args = parser.parse_args()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(torch.randn(48, 8), torch.randn(48, 1)), batch_size=8)
for _ in range(2):
    train(net, loader, optimizer, args.clip)
