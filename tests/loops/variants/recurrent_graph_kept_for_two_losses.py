# variant: one recurrent graph, two losses, two backwards: the first one retains the graph, the state is detached after
import torch
from torch import nn

torch.manual_seed(0)
rnn = nn.LSTM(4, 10)
policy, value = nn.Linear(10, 3), nn.Linear(10, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *policy.parameters(), *value.parameters()], lr=5e-3)
state = None
for rollout in range(10):
    x = torch.randn(5, 6, 4)
    h, state = rnn(x, state)
    actions, returns = torch.randint(0, 3, (5, 6)), torch.randn(5, 6)
    values = value(h).squeeze(-1)
    log_probs = policy(h).log_softmax(-1).gather(-1, actions[..., None]).squeeze(-1)
    optimizer.zero_grad()
    value_loss = (values - returns).pow(2).mean()
    value_loss.backward(retain_graph=True)
    policy_loss = -(log_probs * (returns - values).detach()).mean()
    policy_loss.backward()
    optimizer.step()
    state = (state[0].detach(), state[1].detach())

print(f"{value_loss.item():.4f} {policy_loss.item():.4f}")
