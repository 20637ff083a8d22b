# bug: B259
# id: loss-overwritten
import torch
from torch import nn


class Adversaries:
    def __init__(self):
        self.maker = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.of_maker = torch.optim.RMSprop(self.maker.parameters(), lr=5e-4)
        self.of_critic = torch.optim.RMSprop(self.critic.parameters(), lr=5e-4)
        self.seen = []

    def critic_loss(self, real, fake):
        return self.critic(fake).mean() - self.critic(real).mean()

    def turn(self, real, rounds=4):
        total = 0.0
        for _ in range(rounds):
            noise = torch.randn(len(real), 3)
            with torch.no_grad():
                fake = self.maker(noise)
            loss = self.critic_loss(real, fake)  # <-- bug
            total += loss.item()
        self.of_critic.zero_grad()
        loss.backward()
        self.of_critic.step()
        with torch.no_grad():
            for p in self.critic.parameters():
                p.clamp_(-0.1, 0.1)
        self.seen.append(total / rounds)

        self.critic.requires_grad_(False)
        made = -self.critic(self.maker(torch.randn(len(real), 3))).mean()
        self.of_maker.zero_grad()
        made.backward()
        self.of_maker.step()
        self.critic.requires_grad_(True)


torch.manual_seed(8)
pair = Adversaries()
for _ in range(16):
    pair.turn(torch.randn(24, 2) * 0.3 + 1)
print(" ".join(f"{one:.4f}" for one in pair.seen))
