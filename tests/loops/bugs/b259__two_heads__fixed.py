# bug: B259
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
trunk, kind, size = nn.Linear(7, 16), nn.Linear(16, 3), nn.Linear(16, 1)
opt = torch.optim.Adam([*trunk.parameters(), *kind.parameters(), *size.parameters()], lr=2e-3)
x, k, s = torch.randn(60, 7), torch.randint(3, (60,)), torch.randn(60, 1)
for epoch in range(4):
    for at in torch.randperm(60).split(12):
        hidden = F.relu(trunk(x[at]))
        train_loss = F.cross_entropy(kind(hidden), k[at])
        train_loss += 0.5 * F.mse_loss(size(hidden), s[at])
        opt.zero_grad()
        train_loss.backward()
        opt.step()
