# variant: a worker that looks at its own gradients; what is stepped is another model, trained by another loss
import torch
from torch import nn

torch.manual_seed(0)
probe = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
policy = nn.Linear(4, 3)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD([*model.parameters(), *policy.parameters()], lr=0.05)
for _ in range(10):
    states, actions = torch.randn(16, 4), torch.randint(3, (16,))
    returns = states.sum(1)
    probe.zero_grad()
    chances = torch.distributions.Categorical(logits=policy(states))
    (chances.log_prob(actions) * (returns - probe(states).squeeze(1))).mean().backward()
    sensitivity = sum(float(p.grad.norm()) for p in probe.parameters())
    optimizer.zero_grad()
    (model(states).squeeze(1) - returns).pow(2).mean().backward()
    optimizer.step()
print(f"{sensitivity:.3f}")
