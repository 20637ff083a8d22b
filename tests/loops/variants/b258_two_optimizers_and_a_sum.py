# variant: actor and critic have losses and optimizers of their own; their sum, with a prior's entropy, is shown
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
actor, critic, prior = nn.Linear(5, 3), nn.Linear(5, 1), nn.Linear(5, 3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(20):
    state, reward = torch.randn(16, 5), torch.randn(16)
    policy = torch.distributions.Categorical(logits=actor(state))
    action = policy.sample()
    value = critic(state).squeeze(1)
    actor_loss = -(policy.log_prob(action) * (reward - value.detach())).mean()
    critic_loss = F.smooth_l1_loss(value, reward)
    watched = prior(state).logsumexp(1).mean()
    total = actor_loss + critic_loss + watched
    shown = actor_loss + watched
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
