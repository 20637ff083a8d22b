# variant: Log-probabilities of rsample(): of a soft actor-critic, an entropy bonus, and the code of a decoder.
import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional as F

torch.manual_seed(10)
actor, bonus, encode, decode = nn.Linear(4, 2), nn.Linear(4, 2), nn.Linear(6, 4), nn.Linear(2, 6)
critic = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1)).requires_grad_(False)
modules = (actor, bonus, encode, decode)
optimizer = torch.optim.Adam([p for one in modules for p in one.parameters()], lr=1e-2)


def policy(model, states):
    mean, log_deviation = model(states).chunk(2, dim=1)
    return Normal(mean, log_deviation.clamp(-3, 1).exp())


for _ in range(8):
    states, x = torch.randn(32, 4), torch.rand(32, 6)
    dist = policy(actor, states)
    actions = dist.rsample()
    importance = torch.rand(32, 1)
    loss = (importance * (0.2 * dist.log_prob(actions) - critic(torch.cat([states, actions], dim=1)))).mean()

    dist = policy(bonus, states)
    actions = dist.sample()
    gains = -(actions - states[:, :1]).square()
    loss = loss - (dist.log_prob(actions) * (gains - gains.mean())).mean() + 0.01 * dist.log_prob(dist.rsample()).mean()

    code = Normal(*encode(x).chunk(2, dim=1), validate_args=False)
    code = Normal(code.loc, F.softplus(code.scale))
    z = code.rsample()
    divergence = (code.log_prob(z) - Normal(0.0, 1.0).log_prob(z)).sum(1)
    loss = loss + F.mse_loss(decode(z), x) + (torch.rand(32) * divergence).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
