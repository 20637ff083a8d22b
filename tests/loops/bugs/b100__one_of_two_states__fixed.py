# bug: B100
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
encode, step, decode, prior = nn.Linear(5, 6), nn.GRUCell(3, 8), nn.Linear(11, 5), nn.Linear(8, 6)
modules = nn.ModuleList([encode, step, decode, prior])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)


def posterior(seen):
    mean, width = encode(seen).chunk(2, dim=1)
    return Normal(mean, nn.functional.softplus(width) + 0.1)


for _ in range(12):
    seen, hidden, loss = torch.randn(6, 4, 5), torch.zeros(4, 8), 0.0
    for t in range(5):
        state = posterior(seen[t]).rsample()
        hidden = step(state, hidden)
        loss = loss + nn.functional.mse_loss(decode(torch.cat([state, hidden], 1)), seen[t])
        following = posterior(seen[t + 1])
        expected = Normal(prior(hidden)[:, :3], 1.0)
        loss = loss + 0.1 * kl_divergence(following, expected).sum(1).mean()
        state = following.rsample()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
