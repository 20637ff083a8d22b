# bug: B274
import copy

import torch
import torch.nn.functional as F
from torch import nn


def network(out):
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, out))


def soft_update(target, source, tau):
    for kept, new in zip(target.parameters(), source.parameters()):
        kept.data.copy_(kept.data * (1.0 - tau) + new.data * tau)


torch.manual_seed(21)
actor, critic = network(2), network(1)
actor_target = copy.deepcopy(actor)
critic_target = copy.deepcopy(critic)
for_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=3e-3)
for step in range(1, 41):
    state, reward, following = torch.randn(32, 4), torch.randn(32, 1), torch.randn(32, 4)
    with torch.no_grad():
        move = actor_target(F.pad(following, (0, 2)))
        wanted = critic_target(torch.cat([following, move], 1))
    action = torch.tanh(torch.randn(32, 2))
    loss = F.mse_loss(critic(torch.cat([state, action], 1)), reward + 0.9 * wanted)
    for_critic.zero_grad()
    loss.backward()
    for_critic.step()
    if step % 2 == 0:
        critic.requires_grad_(False)
        shown = -critic(torch.cat([state, actor(F.pad(state, (0, 2)))], 1)).mean()
        for_actor.zero_grad()
        shown.backward()
        for_actor.step()
        critic.requires_grad_(True)
        soft_update(critic_target, critic, 0.01)
        soft_update(actor_target, actor, 0.01)
print(f"{loss.item():.4f} {shown.item():.4f}")
