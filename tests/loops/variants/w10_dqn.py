# variant: DQN: gradients clamped in place through p.grad.data, target network copied now and then
import random
from collections import deque

import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
policy_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target_net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target_net.load_state_dict(policy_net.state_dict())
target_net.eval()
optimizer = torch.optim.RMSprop(policy_net.parameters())
memory: deque = deque(maxlen=100)


def optimize_model() -> float:
    if len(memory) < 8:
        return 0.0
    states, actions, rewards, next_states = zip(*random.sample(memory, 8))
    state_action_values = policy_net(torch.stack(states)).gather(1, torch.tensor(actions).unsqueeze(1))
    next_state_values = target_net(torch.stack(next_states)).max(1)[0].detach()
    expected = next_state_values * 0.99 + torch.tensor(rewards)
    loss = nn.functional.smooth_l1_loss(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    for param in policy_net.parameters():
        param.grad.data.clamp_(-1, 1)
    optimizer.step()
    return loss.item()


state = torch.randn(4)
for t in range(20):
    with torch.no_grad():
        action = policy_net(state).argmax().item() if random.random() > 0.3 else random.randrange(2)
    next_state = torch.randn(4)
    memory.append((state, action, float(next_state.sum()), next_state))
    state = next_state
    loss = optimize_model()
    if t % 5 == 0:
        target_net.load_state_dict(policy_net.state_dict())

print(f"{loss:.4f}")
