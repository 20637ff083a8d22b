# bug: B100
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(10)
encoder, decoder = nn.Linear(9, 6), nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 9))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)


def encode(x):
    mean, spread = encoder(x).chunk(2, dim=1)
    spread = nn.functional.softplus(spread)
    code = Normal(mean, spread).rsample()
    return code, mean, spread


for x in torch.rand(10, 20, 9):
    code, mean, spread = encode(x)
    divergence = 0.5 * (mean**2 + spread**2 - 1).sum() - spread.log().sum()
    loss = nn.functional.mse_loss(decoder(code), x, reduction="sum") + 0.05 * divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
