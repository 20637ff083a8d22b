# variant: DQN that trains at every fourth step in the environment and moves its target network at each of them
import random
from collections import deque

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
policy_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=1e-3)
memory = deque(maxlen=200)
tau, train_frequency, batch_size = 0.005, 4, 8
state = torch.randn(4)
for t in range(60):
    with torch.no_grad():
        action = random.randrange(2) if random.random() < 0.2 else policy_net(state).argmax().item()
    next_state = 0.9 * state + 0.1 * torch.randn(4)
    memory.append((state, action, float(next_state.sum()), next_state))
    state = next_state
    if t >= 16 and t % train_frequency == 0:
        states, actions, rewards, next_states = zip(*random.sample(memory, batch_size))
        with torch.no_grad():
            expected = torch.tensor(rewards) + 0.99 * target_net(torch.stack(next_states)).max(1).values
        values = policy_net(torch.stack(states)).gather(1, torch.tensor(actions)[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(values, expected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for target, param in zip(target_net.parameters(), policy_net.parameters()):
            target.mul_(1 - tau).add_(param, alpha=tau)

print(f"{loss.item():.4f}")
