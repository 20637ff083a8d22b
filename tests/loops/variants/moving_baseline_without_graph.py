# variant: a running baseline of numbers and a running target of detached features, both used in the loss
import torch
from torch import nn

torch.manual_seed(0)
encoder, policy = nn.Linear(6, 8), nn.Linear(8, 3)
optimizer = torch.optim.SGD([*encoder.parameters(), *policy.parameters()], lr=0.05)
baseline, target = 0.0, torch.zeros(8)
for step in range(12):
    h = torch.tanh(encoder(torch.randn(8, 6)))
    choice = torch.distributions.Categorical(logits=policy(h))
    action = choice.sample()
    reward = (action == 1).float()
    loss = -(choice.log_prob(action) * (reward - baseline)).mean() + 0.1 * (h.mean(0) - target).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    target = 0.9 * target + 0.1 * h.detach().mean(0)

print(f"{loss.item():.4f} {baseline:.3f}")
