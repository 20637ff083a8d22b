# bug: B84
# id: graph-cut
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
scale = nn.Parameter(torch.ones(()))
optimizer = torch.optim.Adam([*net.parameters(), scale], lr=1e-2)


def loss_of(weights, x, y):
    return nn.functional.mse_loss(functional_call(net, weights, (x,)) * scale, y)


for step in range(6):
    optimizer.zero_grad()
    for task in range(2):
        amplitude, x = torch.rand(1) + 0.5, torch.randn(2, 8, 1)
        y = amplitude * x.sin()
        fast = {name: weight.clone() for name, weight in net.named_parameters()}
        for _ in range(2):
            grads = torch.autograd.grad(loss_of(fast, x[0], y[0]), list(fast.values()), create_graph=True)
            fast = {
                name: (weight - 0.1 * grad).detach().requires_grad_(True)  # <-- bug
                for (name, weight), grad in zip(fast.items(), grads)
            }
        (loss_of(fast, x[1], y[1]) / 2).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
