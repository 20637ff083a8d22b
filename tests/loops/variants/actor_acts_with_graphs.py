# variant: the actor acts without no_grad into a replay buffer; losses come from forwards of their own
import random
from collections import deque

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(actor.parameters(), lr=5e-3)
memory: deque = deque(maxlen=64)
state = torch.randn(3)
for t in range(40):
    logits = actor(state)
    action = torch.distributions.Categorical(logits=logits).sample()
    next_state = torch.randn(3)
    memory.append((state, action, next_state.sum().item()))
    state = next_state
    if (t + 1) % 4 == 0:
        states, actions, rewards = zip(*random.sample(memory, 4))
        log_probs = actor(torch.stack(states)).log_softmax(-1).gather(1, torch.stack(actions)[:, None]).squeeze(1)
        loss = -(log_probs * torch.tensor(rewards)).sum() / 4
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f}")
