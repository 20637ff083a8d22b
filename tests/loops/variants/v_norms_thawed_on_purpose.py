# variant: a backbone is frozen whole, norms with their statistics, and fine-tuned later on fixed statistics; norms that
# were frozen for the warm-up alone begin to train with their statistics
import torch
from torch import nn
from torch.nn import functional as F


def freeze(module):
    for part in module.modules():
        for p in part.parameters(recurse=False):
            p.requires_grad = False
        if isinstance(part, nn.BatchNorm2d):
            part.eval()
            part.weight.requires_grad = False


def train(body, head, optimizer, steps):
    for _ in range(steps):
        x, y = torch.randn(8, 3, 8, 8), torch.randint(0, 4, (8,))
        optimizer.zero_grad()
        F.cross_entropy(head(body(x).mean((2, 3))), y).backward()
        optimizer.step()


def body():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3))


torch.manual_seed(0)
pretrained, head = body(), nn.Linear(8, 4)
freeze(pretrained)
optimizer = torch.optim.Adam([*pretrained.parameters(), *head.parameters()], lr=1e-3)
train(pretrained, head, optimizer, 8)
for p in pretrained.parameters():
    p.requires_grad = True
train(pretrained, head, optimizer, 16)

other, head = body(), nn.Linear(8, 4)
other[1].eval().requires_grad_(False)
optimizer = torch.optim.Adam([*other.parameters(), *head.parameters()], lr=1e-3)
other[0].requires_grad_(False)
train(other, head, optimizer, 8)
other.train().requires_grad_(True)
train(other, head, optimizer, 16)
