# bug: B135
# id: summand-without-graph
import torch
from torch import nn

torch.manual_seed(9)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for state in torch.randn(12, 32, 4):
    action = (state[:, :2] + 0.3 * torch.randn(32, 2)).clamp(-1, 1)
    reward = -(action - state[:, :2]).norm(dim=1, keepdim=True)
    critic_optimizer.zero_grad()
    nn.functional.smooth_l1_loss(critic(torch.cat((state, action), 1)), reward).backward()
    critic_optimizer.step()

    chosen = actor(state)
    value = critic(torch.cat((state, chosen.detach()), 1)).mean()  # <-- bug
    loss = -value + 2.5 * nn.functional.mse_loss(chosen, action)
    actor_optimizer.zero_grad()
    loss.backward()
    actor_optimizer.step()
