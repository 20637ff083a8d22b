# bug: B177
# id: probabilities-as-scores
import torch
from torch import nn

torch.manual_seed(2)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3), nn.Softmax(dim=-1))  # <-- bug
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
for episode in range(10):
    states = torch.randn(20, 4)
    chances = torch.distributions.Categorical(logits=policy(states))  # <-- bug
    actions = chances.sample()
    rewards = (actions == states[:, :3].argmax(1)).float()
    loss = -(chances.log_prob(actions) * (rewards - rewards.mean())).mean()  # <-- bug
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
