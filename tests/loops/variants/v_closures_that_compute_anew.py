# variant: closures: LBFGS with and without a line search, one that ends where it begins, Adam's that runs once
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, :1] * x[:, 1:2]).tanh()


def fit(model, optimizer, rounds, target):
    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), target)
        loss.backward()
        return loss

    for _ in range(rounds):
        optimizer.step(closure)


def net():
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))


for search in (None, "strong_wolfe"):
    model = net()
    fit(model, torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6, line_search_fn=search), 4, y)
done = nn.Linear(6, 1)
fit(done, torch.optim.LBFGS(done.parameters()), 3, done(x).detach())

model = net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(10):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step(lambda: loss)
