# variant: SAC for discrete actions: the critics' values have no graph, and weigh probabilities that do
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(11)
actor, critic = nn.Linear(4, 3), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
for_actor = torch.optim.Adam(actor.parameters(), lr=1e-2)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)
for state in torch.randn(8, 16, 4):
    action = torch.randint(0, 3, (16, 1))
    for_critic.zero_grad()
    F.mse_loss(critic(state).gather(1, action).squeeze(1), state[:, 0]).backward()
    for_critic.step()
    logits = actor(state).log_softmax(1)
    loss = (logits.exp() * (0.1 * logits - critic(state).detach())).sum(1).mean()
    for_actor.zero_grad()
    loss.backward()
    for_actor.step()
