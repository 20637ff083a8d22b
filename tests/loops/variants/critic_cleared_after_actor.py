# variant: the actor's loss reaches the critic through the advantage, and what it leaves there is cleared first
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt_a = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(12):
    states = torch.randn(24, 4)
    dist = torch.distributions.Categorical(logits=actor(states))
    actions = dist.sample()
    returns = (actions == states[:, :3].argmax(-1)).float()
    values = critic(states).squeeze(-1)
    opt_a.zero_grad()
    (-(dist.log_prob(actions) * (returns - values)).mean()).backward()
    opt_a.step()
    opt_c.zero_grad()
    nn.functional.mse_loss(critic(states).squeeze(-1), returns).backward()
    opt_c.step()
