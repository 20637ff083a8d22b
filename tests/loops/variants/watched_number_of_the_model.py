# variant: The printed loss shows a number of the whole model beside it, made without a graph: what trains is `fit`.
import torch
from torch import nn

torch.manual_seed(2)


def size_of(model):
    return torch.stack([p.detach().norm() for p in model.parameters()]).norm()


model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.SGD(model.parameters(), lr=1e-2)
for step in range(15):
    x = torch.randn(8, 5)
    fit = nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
    opt.zero_grad()
    fit.backward()
    opt.step()
    if step % 5 == 0:
        shown = fit.detach() + 1e-3 * size_of(model).item()
        print(f"{step} {shown:.3f}")
