# bug: B100
# id: sampled-without-graph
import torch
from torch import distributions, nn


class NoisyLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.mean = nn.Parameter(0.1 * torch.randn(outputs, inputs))
        self.spread = nn.Parameter(torch.full((outputs, inputs), -3.0))

    def forward(self, x):
        posterior = distributions.Normal(self.mean, nn.functional.softplus(self.spread))
        weight = posterior.sample()  # <-- bug
        prior = distributions.Normal(torch.zeros_like(self.mean), torch.ones_like(self.mean))
        return x @ weight.T, distributions.kl_divergence(posterior, prior).sum()


def train(layers, optimizer, steps):
    for _ in range(steps):
        x = torch.randn(20, 5)
        hidden, first = layers[0](x)
        out, second = layers[1](torch.tanh(hidden))
        loss = (out[:, 0] - x.sum(1)).square().mean() + (first + second) / 200
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
layers = nn.ModuleList([NoisyLinear(5, 12), NoisyLinear(12, 1)])
train(layers, torch.optim.Adam(layers.parameters(), lr=1e-2), 12)
