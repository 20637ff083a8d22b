# bug: B174
import torch
from torch import nn
from torch.nn import functional as F


def evaluate(encoder, classifier, x, y):
    frozen = []
    for model in (encoder, classifier):
        for param in model.parameters():
            if param.requires_grad:
                param.requires_grad = False
                frozen.append(param)
    print((classifier(encoder(x)).argmax(1) == y).float().mean().item())
    for param in frozen:
        param.requires_grad = True


def train(encoder, classifier, x, y):
    params = [p for model in (encoder, classifier) for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(params, lr=0.1)
    for rows in torch.randperm(len(x)).split(10):
        loss = F.cross_entropy(classifier(encoder(x[rows])), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
encoder, classifier = nn.Sequential(nn.Linear(8, 16), nn.ReLU()), nn.Linear(16, 3)
x = torch.randn(60, 8)
y = x[:, :3].argmax(1)
for epoch in range(4):
    train(encoder, classifier, x[:40], y[:40])
    evaluate(encoder, classifier, x[40:], y[40:])
