# bug: B155
# id: parameter-not-changed
import torch
import torch.nn.functional as F
from torch import nn


def sgd_step(parameters, lr):
    with torch.no_grad():
        for p in parameters:
            p = p - lr * p.grad  # <-- bug


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
x = torch.randn(96, 2)
y = (x[:, 0] * x[:, 1] > 0).long()

for epoch in range(4):
    seen = 0.0
    for begin in range(0, len(x), 16):
        loss = F.cross_entropy(model(x[begin : begin + 16]), y[begin : begin + 16])
        model.zero_grad()
        loss.backward()
        sgd_step(model.parameters(), lr=0.2)
        seen += loss.item()
    print(f"epoch {epoch}: {seen / 6:.4f}")
