# bug: B125
# id: upstream-gradient-ignored
import torch
import torch.nn.functional as F
from torch import nn


class SoftSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x / (1 + x.abs())

    @staticmethod
    def backward(ctx, *grads):
        (x,) = ctx.saved_tensors
        return 1 / (1 + x.abs()) ** 2  # <-- bug


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 20), nn.Linear(20, 3)

    def forward(self, x):
        return self.second(SoftSign.apply(self.first(x)))


torch.manual_seed(3)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(15):
    x = torch.randn(16, 6)
    opt.zero_grad()
    F.cross_entropy(net(x), x[:, :3].argmax(1)).backward()
    opt.step()
