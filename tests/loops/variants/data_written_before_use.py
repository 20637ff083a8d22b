# variant: right writes through .data: inputs before their forward, a state between runs, a buffer, a target, a mask
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
cell, head = nn.GRUCell(5, 8), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
mean = torch.zeros(5)
state = torch.zeros(6, 8)
for i in range(40):
    x = torch.randn(6, 5)
    x.data[:, 0] = 0.0
    mean.data.mul_(0.9).add_(x.mean(0), alpha=0.1)
    x.data -= mean
    state = cell(x, state.detach())
    y = x.sum(1, keepdim=True)
    y.data.clamp_(-2, 2)
    scores = state @ state.T
    scores.data.masked_fill_(torch.eye(6).bool(), -float("inf"))
    state = state + scores.softmax(1) @ state
    loss = F.mse_loss(head(state), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % 10 == 9:
        state.data.zero_()
