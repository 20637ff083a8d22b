# variant: PPO whose rounds and epochs are while loops: the ratio is 1 in the first epoch of each round, as it should be
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2)


def surrogate(states, actions, old, advantages):
    new = Categorical(logits=actor(states)).log_prob(actions)
    ratio = torch.exp(new - old)
    return -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()


steps = 0
while steps < 24:
    states = torch.randn(32, 4)
    with torch.no_grad():
        policy = Categorical(logits=actor(states))
        actions = policy.sample()
        old = policy.log_prob(actions)
    advantages = (actions == states[:, :3].argmax(1)).float() - 0.3
    epoch = 0
    while epoch < 4:
        loss = surrogate(states, actions, old, advantages)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch += 1
        steps += 1
