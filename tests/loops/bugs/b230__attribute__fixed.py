# bug: B230
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
epochs, decays_from, rate = 6, 3, 2e-3
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=rate)
x, y = torch.randn(60, 5), torch.randint(3, (60,))
for epoch in range(epochs):
    if epoch > decays_from:
        for group in optimizer.param_groups:
            group["lr"] = rate * (epochs - epoch) / (epochs - decays_from)
    for at in torch.randperm(60).split(15):
        loss = F.cross_entropy(model(x[at]), y[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
