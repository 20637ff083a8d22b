# bug: B26
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(2)
encoder = nn.Sequential(nn.Linear(5, 12), nn.ReLU())
value = nn.Linear(12, 1)
policy = nn.Linear(12, 3)
value_optimizer = torch.optim.Adam([*encoder.parameters(), *value.parameters()], lr=3e-3)
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)

for step in range(24):
    x = torch.randn(32, 5)
    reward = 9 * x[:, :3].gather(1, (x[:, 3] > 0).long()[:, None])
    value_optimizer.zero_grad()
    nn.functional.mse_loss(value(encoder(x)), reward).backward()
    clip_grad_norm_([*encoder.parameters(), *value.parameters()], 0.5)
    value_optimizer.step()

    with torch.no_grad():
        seen = encoder(x)
    policy_optimizer.zero_grad()
    nn.functional.cross_entropy(policy(seen), (x[:, 3] > 0).long()).backward()
    clip_grad_norm_(policy.parameters(), 0.5)
    policy_optimizer.step()
