# variant: terms that objects hold: one with a graph, a constant one, and a running mean that is subtracted
import torch
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 2)
        self.register_buffer("offset", torch.tensor(0.5))
        self.register_buffer("mean", torch.zeros(()))
        self.penalty = torch.zeros(())

    def forward(self, x):
        out = self.layer(x)
        self.penalty = out.pow(2).mean()
        with torch.no_grad():
            self.mean = 0.9 * self.mean + 0.1 * out.mean()
        return out


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(8, 6)
    value = model(x).sum(dim=1).abs().mean()
    loss = (value - model.mean) + 0.1 * model.penalty + model.offset
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
