# variant: the target network follows by a loop of its own, and a method for it is left unused
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)

    def update_target(self, target):
        target.load_state_dict(self.state_dict())


torch.manual_seed(0)
critic = Critic()
target = copy.deepcopy(critic)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(24):
    x = torch.randn(32, 4)
    with torch.no_grad():
        wanted = x.norm(dim=1, keepdim=True) + 0.9 * target(x)
    loss = F.mse_loss(critic(x), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for theirs, mine in zip(target.parameters(), critic.parameters()):
        theirs.data.copy_(0.95 * theirs.data + 0.05 * mine.data)
print(loss.item())
