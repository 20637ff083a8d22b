# variant: BatchNorms put into eval mode after one epoch, by train(False) or the attribute; or the head alone trained
import torch
from torch import nn


class Net(nn.Module):
    late = False

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(8, 1))

    def forward(self, x):
        return self.head(self.body(x))

    def train(self, mode=True):
        super().train(mode)
        if self.late:
            self.body[1].training = False
        return self


def run_epoch(model, optimizer):
    for x in torch.randn(5, 16, 6):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), x[:, :1]).backward()
        optimizer.step()


def validate(model):
    model.eval()
    with torch.no_grad():
        print(model(torch.randn(16, 6)).mean().item())


def by_attribute(model):
    model.late = True
    model.train()


def by_train(model):
    model.train()
    model.body.train(False)


def head_alone(model):
    model.body.requires_grad_(False)
    model.head.train()


torch.manual_seed(0)
for freeze in (by_attribute, by_train, head_alone):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        if epoch == 0:
            model.train()
        else:
            freeze(model)
        run_epoch(model, optimizer)
        validate(model)
