# bug: B125
# id: upstream-gradient-ignored
"""A loss with a backward of its own, accumulated over four micro-batches."""

import torch
from torch import nn


class WeightedSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, predicted, wanted, weight):
        ctx.save_for_backward(predicted, wanted, weight)
        return (weight * (predicted - wanted) ** 2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        predicted, wanted, weight = ctx.saved_tensors
        gradient = 2 * weight * (predicted - wanted) / predicted.numel()
        return gradient, None, None  # <-- bug


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(10):
    for _ in range(4):
        x = torch.randn(8, 5)
        loss = WeightedSquare.apply(model(x), x.sum(1, keepdim=True), x[:, :1].abs())
        (loss / 4).backward()
    optimizer.step()
    optimizer.zero_grad()
