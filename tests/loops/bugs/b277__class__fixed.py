# bug: B277
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.encoder(x))

    def freeze(self):
        for parameter in self.encoder.parameters():
            parameter.requires_grad = False

    def unfreeze(self):
        for parameter in self.encoder.parameters():
            parameter.requires_grad = True


def train(model, optimizer, steps):
    for _ in range(steps):
        x = torch.randn(10, 6)
        loss = F.cross_entropy(model(x), (x.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(13)
model = Classifier(nn.Sequential(nn.Linear(6, 16), nn.ReLU()))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.freeze()
train(model, optimizer, 10)
model.unfreeze()
train(model, optimizer, 15)
