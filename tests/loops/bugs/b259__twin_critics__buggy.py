# bug: B259
# id: loss-overwritten
"""A loop over two critics keeps the loss of the second one alone."""

import torch
import torch.nn.functional as F
from torch import nn


class Critics(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, states):
        return self.one(states), self.two(states)


def update(critics, optimizer, states, actions, targets):
    for values in critics(states):
        chosen = values.gather(1, actions)
        critic_loss = F.mse_loss(chosen, targets)  # <-- bug
    optimizer.zero_grad()
    critic_loss.backward()
    optimizer.step()


torch.manual_seed(0)
critics = Critics()
optimizer = torch.optim.Adam(critics.parameters(), lr=1e-2)
for _ in range(12):
    states = torch.randn(16, 4)
    update(critics, optimizer, states, torch.randint(3, (16, 1)), states[:, :1])
