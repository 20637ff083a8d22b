# truth: closure-without-zeroing
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
from functools import partial

net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)).double()
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")


def objective(net, x, y):
    loss = F.mse_loss(net(x), y)
    loss.backward()  # <-- bug
    return loss


x = torch.randn(32, 2).double()
y = (x[:, :1] * x[:, 1:]).sin()
for it in range(4):
    opt.zero_grad()
    opt.step(partial(objective, net, x, y))
