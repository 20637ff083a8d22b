# bug: B128
# id: hooks-read-the-last-value
"""Each task's gradient is weighed where it enters the shared trunk."""

import torch
from torch import nn


class Tasks(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 20), nn.Tanh())
        self.heads = nn.ModuleDict({name: nn.Linear(20, 1) for name in weights})
        self.weights = weights

    def forward(self, x):
        shared = self.trunk(x)
        out = {}
        for name, head in self.heads.items():
            weight = self.weights[name]
            entrance = shared.clone()
            entrance.register_hook(lambda g: weight * g)  # <-- bug
            out[name] = head(entrance)
        return out


torch.manual_seed(1)
model = Tasks({"sum": 1.0, "product": 0.1, "largest": 3.0})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(15):
    x = torch.randn(24, 5)
    wanted = {"sum": x.sum(1), "product": x[:, 0] * x[:, 1], "largest": x.max(1).values}
    out = model(x)
    loss = sum(nn.functional.mse_loss(out[name][:, 0], wanted[name]) for name in out)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
