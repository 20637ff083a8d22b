# variant: DQN with a replay buffer: acts without no_grad between the updates, four forwards whose graphs nobody uses
import random
from collections import deque, namedtuple

import torch
import torch.nn.functional as F
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state done")
random.seed(0)
torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
target_net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
buffer = deque(maxlen=200)
train_every, sync_every, gamma = 4, 16, 0.95

state = torch.randn(3)
for t in range(1, 61):
    q_values = q_net(state.unsqueeze(0))
    action = random.randrange(2) if random.random() < 0.2 else int(q_values.argmax(1).item())
    next_state = 0.9 * state + 0.2 * (2 * action - 1) + 0.1 * torch.randn(3)
    reward, done = -float(next_state.pow(2).sum()), t % 20 == 0
    buffer.append(Transition(state, action, reward, next_state, float(done)))
    state = torch.randn(3) if done else next_state

    if len(buffer) >= 12 and t % train_every == 0:
        batch = Transition(*zip(*random.sample(buffer, 12)))
        q = q_net(torch.stack(batch.state)).gather(1, torch.tensor(batch.action).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            next_q = target_net(torch.stack(batch.next_state)).max(1).values
            target = torch.tensor(batch.reward) + gamma * (1 - torch.tensor(batch.done)) * next_q
        loss = F.smooth_l1_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if t % sync_every == 0:
        target_net.load_state_dict(q_net.state_dict())
print(f"{loss.item():.4f}")
