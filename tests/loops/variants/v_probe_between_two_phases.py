# variant: a function freezes everything, looks at the features and thaws the head, which alone is trained from then on
import torch
from torch import nn


def begin_probe(body, head, x):
    trained = []
    for part in (body, head):
        for p in part.parameters():
            p.requires_grad = False
    spread = body(x).std()
    for p in head.parameters():
        trained.append(p)
    for p in trained:
        p.requires_grad = True
    return trained, spread


def train(body, head, parameters, steps):
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    for _ in range(steps):
        x = torch.randn(16, 6)
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(body(x)), (x.sum(1) > 0).long()).backward()
        optimizer.step()


torch.manual_seed(0)
body, head = nn.Sequential(nn.Linear(6, 16), nn.ReLU()), nn.Linear(16, 2)
train(body, head, [*body.parameters(), *head.parameters()], 12)
trained, spread = begin_probe(body, head, torch.randn(50, 6))
train(body, head, trained, 12)
