# bug: B68
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
encode, step, decode = nn.Linear(5, 6), nn.GRUCell(3, 8), nn.Linear(11, 5)
prior = nn.Linear(8, 6)
parameters = [p for one in (encode, step, decode, prior) for p in one.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
length = 8
for _ in range(12):
    seen = torch.randn(length, 4, 5)
    hidden = torch.zeros(4, 8)
    obs_loss = size_loss = kl_loss = 0
    for t in range(length - 1):
        posterior = Normal(encode(seen[t])[:, :3], 1.0)
        state = posterior.rsample()
        hidden = step(state, hidden)
        guess = decode(torch.cat([state, hidden], 1))
        obs_loss += nn.functional.mse_loss(guess, seen[t + 1])
        size_loss += guess.square().mean()
        kl_loss += kl_divergence(posterior, Normal(prior(hidden)[:, :3], 1.0)).sum(1).mean()
    obs_loss /= length - 1
    size_loss /= length - 1
    kl_loss /= length - 1
    loss = obs_loss + 0.1 * size_loss + 0.5 * kl_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
