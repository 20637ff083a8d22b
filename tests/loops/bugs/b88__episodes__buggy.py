# bug: B88
# id: advantage-not-detached
import torch
from torch import nn


def play(policy, critic, steps=10):
    state, logs, values, rewards = torch.randn(4), [], [], []
    for _ in range(steps):
        dist = torch.distributions.Normal(policy(state), 0.5)
        action = dist.sample()
        logs.append(dist.log_prob(action).sum())
        values.append(critic(state))
        rewards.append(-float((action - state[:2]).pow(2).sum()))
        state = 0.9 * state + 0.1 * torch.randn(4)
    return logs, values, rewards


def discounted(rewards, gamma=0.9):
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        found.insert(0, total)
    return found


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
for _ in range(10):
    logs, values, rewards = play(policy, critic)
    actor, critics = [], []
    for log, value, gain in zip(logs, values, discounted(rewards), strict=True):
        actor.append(-log * (gain - value))  # <-- bug
        critics.append(nn.functional.smooth_l1_loss(value, torch.tensor([gain])))
    optimizer.zero_grad()
    (torch.stack(actor).sum() + torch.stack(critics).sum()).backward()  # <-- bug
    optimizer.step()
