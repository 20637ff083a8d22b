# variant: a second optimizer steps the encoder with what the critic and its own loss bring, on purpose
import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.encoder(x))


torch.manual_seed(0)
critic, judge = Critic(), nn.Linear(32, 1)
critic_optimizer = torch.optim.Adam(critic.head.parameters(), lr=1e-3)
shared_optimizer = torch.optim.Adam([*judge.parameters(), *critic.encoder.parameters()], lr=1e-3)


def update_critic(x, target):
    loss = F.mse_loss(critic(x), target)
    critic_optimizer.zero_grad()
    loss.backward()
    critic_optimizer.step()


def update_judge(x, after, same):
    pairs = torch.cat([critic.encoder(x), critic.encoder(after)], dim=1)
    loss = F.binary_cross_entropy_with_logits(judge(pairs), same)
    loss.backward()
    shared_optimizer.step()


for _ in range(12):
    x, after = torch.randn(16, 6), torch.randn(16, 6)
    shared_optimizer.zero_grad()  # here, and not before its own loss: what the critic's loss brings is to stay
    with torch.no_grad():
        target = critic(after) * 0.9 + x[:, :1]
    update_critic(x, target)
    update_judge(x, after, (x[:, :1] > 0).float())
