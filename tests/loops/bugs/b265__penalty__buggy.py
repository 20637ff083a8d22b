# bug: B265
# id: sum-beside-means
# severity: info
import torch
from torch import nn


class Penalty(nn.Module):
    def forward(self, mixed, scores):
        (grad,) = torch.autograd.grad(scores, mixed, torch.ones_like(scores), create_graph=True)
        length = grad.flatten(1).norm(2, dim=1)
        return ((length - 1) ** 2).sum()  # <-- bug


torch.manual_seed(2)
maker = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 6))
critic = nn.Sequential(nn.Linear(6, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
for_maker = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.9))
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
penalty = Penalty()
for turn in range(30):
    real = torch.randn(32, 6) * 0.5 + 1
    with torch.no_grad():
        fake = maker(torch.randn(32, 4))
    share = torch.rand(32, 1)
    mixed = (share * real + (1 - share) * fake).requires_grad_()
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(mixed, critic(mixed))
    for_critic.zero_grad()
    loss.backward()
    for_critic.step()
    if turn % 3 == 2:
        critic.requires_grad_(False)
        made = -critic(maker(torch.randn(32, 4))).mean()
        for_maker.zero_grad()
        made.backward()
        for_maker.step()
        critic.requires_grad_(True)
        print(f"{loss.item():.4f} {made.item():.4f}")
