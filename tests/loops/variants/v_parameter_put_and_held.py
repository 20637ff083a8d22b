# variant: parameters put into modules while training is under way: a part that grows and is given to the optimizer, a
# spectral norm put on and taken off, a layer of another model that was frozen
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
scale = nn.Module()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(20):
    x = torch.randn(12, 4)
    if step == 6:
        model[0].gain = nn.Parameter(torch.ones(()))
        optimizer.add_param_group({"params": [model[0].gain]})
    if step == 9:
        nn.utils.parametrizations.spectral_norm(model[2])
    if step == 14:
        nn.utils.parametrize.remove_parametrizations(model[2], "weight")
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    if step == 16:
        model[2].bias = nn.Parameter(model[2].bias.detach().clone(), requires_grad=False)
    out = model(x)
    if step > 5:
        out = out * model[0].gain
    loss = nn.functional.mse_loss(out, x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
