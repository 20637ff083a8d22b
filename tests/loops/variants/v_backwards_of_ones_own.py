# variant: backwards that never read their gradient, and may: a loss that nothing is done to, one that blocks; and some
# that read it in another way, reversed and straight through
import torch
from torch import nn


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, predicted, wanted):
        ctx.save_for_backward(predicted - wanted)
        return ((predicted - wanted) ** 2).sum()

    @staticmethod
    def backward(ctx, _):
        return 2 * ctx.saved_tensors[0], None


class Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


class Zeros(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros_like(ctx.saved_tensors[0])


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, *grads):
        def turned():
            return -grads[0]

        return turned()


torch.manual_seed(0)
body, head, domain = nn.Linear(5, 8), nn.Linear(8, 1), nn.Linear(8, 1)
parts = nn.ModuleList([body, head, domain])
optimizer = torch.optim.SGD(parts.parameters(), lr=0.001)
for _ in range(12):
    x = torch.randn(16, 5)
    hidden = torch.tanh(body(x))
    optimizer.zero_grad()
    Loss.apply(head(hidden), x.sum(1, keepdim=True)).backward(retain_graph=True)
    side = domain(Reversed.apply(hidden)) + 0.1 * head(Block.apply(hidden)) + 0.1 * Zeros.apply(hidden).mean()
    nn.functional.binary_cross_entropy_with_logits(side, (x[:, :1] > 0).float()).backward()
    optimizer.step()
