# bug: B119
# id: scaler-updated-between-steps
import torch
from torch import nn

torch.manual_seed(2)
actor, critic = nn.Linear(5, 2), nn.Linear(5, 1)
trunk = nn.Linear(4, 5)
policy = torch.optim.Adam([*trunk.parameters(), *actor.parameters()], lr=1e-3)
value = torch.optim.Adam(critic.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for _ in range(12):
    seen = torch.tanh(trunk(torch.randn(16, 4)))
    loss = -actor(seen).log_softmax(dim=1)[:, 0].mean() + (critic(seen) - 1).square().mean()
    policy.zero_grad()
    value.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(policy)
    scaler.unscale_(value)
    nn.utils.clip_grad_norm_([p for o in (policy, value) for g in o.param_groups for p in g["params"]], 1.0)
    scaler.step(policy)
    scaler.update()  # <-- bug
    scaler.step(value)
    scaler.update()
print(f"{loss.item():.4f}")
