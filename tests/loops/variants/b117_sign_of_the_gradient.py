# variant: steps of a fresh Adam or RMSprop each time, set so that they go by the gradient at hand alone
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 3)


def step_by_sign(loss):
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.0, 0.0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def step_by_direction(loss, lr):
    optimizer = torch.optim.RMSprop(net.parameters(), lr=lr, alpha=0.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def entropy():
    p = net(torch.randn(32, 8)).softmax(1)
    return -(p * p.log()).sum(1).mean()


for _ in range(10):
    step_by_sign(entropy())
for step in range(10):
    step_by_direction(entropy(), 0.05 / (step + 1))
