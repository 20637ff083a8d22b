# bug: B84
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
log_rates = nn.ParameterDict(
    {name.replace(".", "_"): nn.Parameter(torch.tensor(-3.0)) for name, _ in net.named_parameters()}
)
optimizer = torch.optim.Adam([*net.parameters(), *log_rates.parameters()], lr=1e-2)


def adapted(x, y):
    weights = dict(net.named_parameters())
    inner = (functional_call(net, weights, (x,)) - y).pow(2).mean()
    slopes = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
    return {
        name: weight - log_rates[name.replace(".", "_")].exp() * slope
        for (name, weight), slope in zip(weights.items(), slopes)
    }


for _ in range(10):
    optimizer.zero_grad()
    for _ in range(3):
        height = torch.rand(1) * 3
        x = torch.rand(20, 1) * 6
        y = height * torch.sin(x)
        loss = (functional_call(net, adapted(x[:10], y[:10]), (x[10:],)) - y[10:]).pow(2).mean()
        (loss / 3).backward()
    optimizer.step()
