# variant: folds: each begins with the initial weights, which are evaluated first; the average of each ends in the model
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
initial = copy.deepcopy(model.state_dict())
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = torch.randn(4, 24, 6)
for fold in range(4):
    model.load_state_dict(initial)
    with torch.no_grad():
        before = (model(data[fold]) - data[fold][:, :1]).pow(2).mean().item()
    average = [p.detach().clone() for p in model.parameters()]
    for step in range(12):
        x = data[[i for i in range(4) if i != fold]].flatten(0, 1)
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average = [0.9 * a + 0.1 * p.detach() for a, p in zip(average, model.parameters())]
    with torch.no_grad():
        for a, p in zip(average, model.parameters()):
            p.copy_(a)
        after = (model(data[fold]) - data[fold][:, :1]).pow(2).mean().item()
    print(f"{fold}: {before:.4f} {after:.4f}")
