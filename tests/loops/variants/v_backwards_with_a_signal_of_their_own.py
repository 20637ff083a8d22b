# variant: direct feedback alignment, and binary units trained by REINFORCE: backwards that need no gradient from above
import torch
from torch import nn


class Feedback(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, told, matrix):
        ctx.told, ctx.matrix = told, matrix
        return hidden.view_as(hidden)

    @staticmethod
    def backward(ctx, upstream):
        return ctx.told["error"] @ ctx.matrix, None, None


class Draw(torch.autograd.Function):
    @staticmethod
    def forward(ctx, chance, told):
        drawn = torch.bernoulli(chance)
        ctx.save_for_backward(chance, drawn)
        ctx.told = told
        return drawn

    @staticmethod
    def backward(ctx, _):
        chance, drawn = ctx.saved_tensors
        score = (drawn - chance) / (chance * (1 - chance) + 1e-6)
        return -(ctx.told["reward"] - ctx.told["reward"].mean())[:, None] * score / len(drawn), None


torch.manual_seed(0)
first, second, last = nn.Linear(6, 16), nn.Linear(16, 16), nn.Linear(16, 1)
matrices = torch.randn(2, 1, 16)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters(), *last.parameters()], lr=0.02)
for _ in range(20):
    x, told = torch.randn(32, 6), {}
    hidden = Feedback.apply(torch.tanh(first(x)), told, matrices[0])
    hidden = Feedback.apply(torch.tanh(second(hidden)), told, matrices[1])
    wrong = last(hidden) - x.sum(1, keepdim=True)
    told["error"] = wrong.detach() / len(x)
    optimizer.zero_grad()
    (0.5 * wrong.pow(2).mean()).backward()
    optimizer.step()

units = nn.Linear(6, 4)
optimizer = torch.optim.SGD(units.parameters(), lr=0.1)
for _ in range(20):
    x, told = torch.randn(32, 6), {}
    drawn = Draw.apply(torch.sigmoid(units(x)), told)
    told["reward"] = -(drawn - (x[:, :4] > 0).float()).abs().sum(1)
    optimizer.zero_grad()
    (0.0 * drawn.sum()).backward()
    optimizer.step()
