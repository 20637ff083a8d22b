# variant: a critic with two heads, one of which is not used: its output is thrown away, the optimizer holds it still
import torch
from torch import nn


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.first, self.second = nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, states):
        hidden = self.body(states)
        return self.first(hidden), self.second(hidden)


torch.manual_seed(0)
critic = Twin()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(20):
    states, returns = torch.randn(16, 6), torch.randn(16, 1)
    value, _ = critic(states)
    loss = nn.functional.mse_loss(value, returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
