# bug: B260
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.layers(x)

    def vector(self):
        return parameters_to_vector(self.parameters()).detach()

    def load(self, vector):
        vector_to_parameters(vector, self.parameters())


torch.manual_seed(15)
critic1 = Critic()
critic2 = Critic()
target_critic1, target_critic2 = copy.deepcopy(critic1), copy.deepcopy(critic2)
for_first = torch.optim.Adam(critic1.parameters(), lr=2e-3)
for_second = torch.optim.Adam(critic2.parameters(), lr=2e-3)
keep = 0.98
for _ in range(20):
    state = torch.randn(32, 5)
    reward = state.mean(1, keepdim=True)
    with torch.no_grad():
        following = torch.min(target_critic1(state.roll(1, 0)), target_critic2(state.roll(1, 0)))
        wanted = reward + 0.9 * following
    first = F.mse_loss(critic1(state), wanted)
    for_first.zero_grad()
    first.backward()
    for_first.step()
    second = F.mse_loss(critic2(state), wanted)
    for_second.zero_grad()
    second.backward()
    for_second.step()

    vector1, vector2 = critic1.vector(), critic2.vector()
    old1, old2 = target_critic1.vector(), target_critic2.vector()
    new1 = keep * old1 + (1 - keep) * vector1
    new2 = keep * old2 + (1 - keep) * vector2
    target_critic1.load(new1)
    target_critic2.load(new2)
print(f"{first.item():.4f} {second.item():.4f}")
