# variant: the last epochs run in eval mode on purpose, with an evaluation after each epoch
import torch
from torch import nn

torch.manual_seed(0)


def fit(validate, last):
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(6):
        last(model, epoch)
        for x in torch.randn(5, 16, 8):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), x[:, :1]).backward()
            optimizer.step()
        validate(model)


def plainly(model):
    model.eval()
    with torch.no_grad():
        print(model(torch.randn(4, 8)).mean().item())


def putting_it_back(model):
    was = model.training
    model.eval()
    with torch.no_grad():
        print(model(torch.randn(4, 8)).mean().item())
    model.train(was)


def by_mode(model, epoch):
    model.train(epoch < 3)


def by_eval(model, epoch):
    if epoch == 3:
        model.eval()


fit(plainly, by_mode)
fit(putting_it_back, by_mode)
fit(putting_it_back, by_eval)
