# bug: B169
import torch
from torch import nn

torch.manual_seed(2)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
value = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.RMSprop([*policy.parameters(), *value.parameters()], lr=1e-3)
LIMIT = 0.1

for update in range(16):
    obs, returns = torch.randn(24, 4), torch.randn(24)
    dist = torch.distributions.Categorical(logits=policy(obs))
    act = dist.sample()
    baseline = value(obs).squeeze(1)
    loss = -(dist.log_prob(act) * (returns - baseline.detach())).mean() + 0.5 * (returns - baseline).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), LIMIT)
    nn.utils.clip_grad_norm_(value.parameters(), LIMIT)
    opt.step()
print(f"{loss.item():.4f}")
