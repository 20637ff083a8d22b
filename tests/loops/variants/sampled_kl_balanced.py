# variant: two sampled divergences, each with another density as the constant
import torch
from torch import nn

torch.manual_seed(0)
post = nn.Linear(4, 4)
prior = nn.Linear(4, 4)
opt = torch.optim.Adam([*post.parameters(), *prior.parameters()], 1e-3)
for _ in range(20):
    x = torch.randn(16, 4)
    q = torch.distributions.Normal(post(x), 1.0)
    p = torch.distributions.Normal(prior(x * 0.5), 1.0)
    z = q.rsample()
    lp, lq = p.log_prob(z).sum(1), q.log_prob(z).sum(1)
    loss = (z**2).mean() + 0.8 * (lq.detach() - lp).mean() + 0.2 * (lq - lp.detach()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
