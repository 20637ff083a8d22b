# variant: a layer called Reverse multiplies by a factor that its caller makes negative; another one reverses sequences
import torch
import torch.nn.functional as F
from torch import nn


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return ctx.factor * grad, None


class ReverseTime(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.flip(1)

    @staticmethod
    def backward(ctx, grad):
        return grad.flip(1)


torch.manual_seed(0)
features, labels, domains = nn.Linear(6, 12), nn.Linear(12, 3), nn.Linear(12, 2)
parameters = [*features.parameters(), *labels.parameters(), *domains.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
for step in range(16):
    x = torch.randn(16, 6)
    made = features(ReverseTime.apply(x))
    loss = F.cross_entropy(labels(made), x[:, :3].argmax(1))
    loss = loss + F.cross_entropy(domains(GradReverse.apply(made, -0.5)), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
