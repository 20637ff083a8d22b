# variant: hooks put on in loops that keep what they need: a factory, a default, a variable that does not change, a
# counter; and one a step, whose variable changes after it has run
import torch
from torch import nn


def scaled(by):
    def hook(grad):
        return grad * by

    return hook


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
limit, seen = 1.0, []
for number, p in enumerate(model.parameters()):
    p.register_hook(scaled(0.5**number))
    p.register_hook(lambda grad, by=0.9**number: grad * by)
    p.register_hook(lambda grad: grad.clamp(-limit, limit))
    p.register_hook(lambda grad: seen.append(float(grad.norm())))
for step in range(12):
    x = torch.randn(16, 5)
    hidden = model[1](model[0](x))
    warm = min(1.0, (step + 1) / 6)
    hidden.register_hook(lambda grad: grad * warm)
    optimizer.zero_grad()
    nn.functional.mse_loss(model[2](hidden), x.sum(1, keepdim=True)).backward()
    optimizer.step()
