# bug: B246
import torch
from torch import nn


class EMA:
    """A running average of the weights, for evaluation."""

    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].lerp_(p.detach(), 1 - self.decay)

    def evaluate(self, model, loss):
        own = {name: p.detach().clone() for name, p in model.named_parameters()}
        model.load_state_dict(self.shadow)
        with torch.no_grad():
            value = loss(model).item()
        model.load_state_dict(own)
        return value


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
ema = EMA(model)
for step in range(24):
    x = torch.randn(32, 8)
    loss = (model(x).squeeze(1) - x.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
print(ema.evaluate(model, lambda net: (net(x).squeeze(1) - x.sum(1)).pow(2).mean()))
