# bug: B92
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


def critic():
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))


torch.manual_seed(0)
critic1, critic2 = critic(), critic()
optim1 = torch.optim.Adam(critic1.parameters(), lr=1e-3)
optim2 = torch.optim.Adam(critic2.parameters(), lr=1e-3)
for _ in range(12):
    states, targets = torch.randn(8, 5), 50 * torch.randn(8, 1)
    loss = nn.functional.mse_loss(critic1(states), targets) + nn.functional.mse_loss(critic2(states), targets)
    optim1.zero_grad()
    optim2.zero_grad()
    loss.backward()
    clip_grad_norm_(critic1.parameters(), 1.0)
    clip_grad_norm_(critic2.parameters(), 1.0)
    optim1.step()
    optim2.step()
