# variant: optimizers made anew that have no state, are given the old one's, or take several steps
import torch
from torch import nn

torch.manual_seed(0)


def loss_of(model):
    x = torch.randn(8, 6)
    return nn.functional.mse_loss(model(x), x[:, :1])


model = nn.Linear(6, 1)
for _ in range(8):  # plain SGD keeps nothing
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-4)
    optimizer.zero_grad()
    loss_of(model).backward()
    optimizer.step()

saved = None
for _ in range(8):  # the state goes on
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    if saved is not None:
        optimizer.load_state_dict(saved)
    optimizer.zero_grad()
    loss_of(model).backward()
    optimizer.step()
    saved = optimizer.state_dict()

kept = None
for _ in range(8):  # the same by hand
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    optimizer.state = kept if kept is not None else optimizer.state
    optimizer.zero_grad()
    loss_of(model).backward()
    optimizer.step()
    kept = optimizer.state

for _ in range(5):  # a solver for each problem
    solver = torch.optim.LBFGS(model.parameters(), max_iter=4)
    x = torch.randn(16, 6)

    def closure():
        solver.zero_grad()
        loss = nn.functional.mse_loss(model(x), x[:, :1])
        loss.backward()
        return loss

    solver.step(closure)

for epoch in range(5):  # once an epoch
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(1 + (epoch > 3)):
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()

for _ in range(6):  # fast weights of one step
    fast = [p.detach().clone().requires_grad_() for p in model.parameters()]
    inner = torch.optim.Adam(fast, lr=0.01)
    x = torch.randn(8, 6)
    nn.functional.mse_loss(nn.functional.linear(x, *fast), x[:, :1]).backward()
    inner.step()
