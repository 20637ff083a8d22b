# variant: Each step draws its own samples, and the old probabilities right before it: the ratio is 1, as meant.
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)
policy = nn.Linear(4, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def draw(states):
    with torch.no_grad():
        return Categorical(logits=policy(states)).sample()


for _ in range(8):
    states = torch.randn(1, 4).expand(16, 4)
    actions = draw(states)
    with torch.no_grad():
        old = Categorical(logits=policy(states)).log_prob(actions)
    gains = states.gather(1, actions[:, None]).squeeze(1)
    ratio = torch.exp(Categorical(logits=policy(states)).log_prob(actions) - old)
    loss = -torch.min(ratio * gains, ratio.clamp(0.8, 1.2) * gains).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
