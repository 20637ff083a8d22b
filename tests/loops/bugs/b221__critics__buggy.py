# bug: B221
# id: clipped-after-step
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
        self.critic = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
        self.for_generator = torch.optim.RMSprop(self.generator.parameters(), lr=1e-3)
        self.for_critic = torch.optim.RMSprop(self.critic.parameters(), lr=1e-3)

    def criticise(self, real):
        fake = self.generator(torch.randn(len(real), 4)).detach()
        self.for_critic.zero_grad()
        (self.critic(fake).mean() - self.critic(real).mean()).backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), 0.5)
        self.for_critic.step()

    def generate(self, count):
        self.for_generator.zero_grad()
        (-self.critic(self.generator(torch.randn(count, 4))).mean()).backward()
        self.for_generator.step()
        nn.utils.clip_grad_value_(self.generator.parameters(), 0.1)  # <-- bug


torch.manual_seed(0)
trainer = Trainer()
for round_ in range(12):
    for _ in range(4):
        trainer.criticise(torch.randn(16, 3))
    trainer.generate(16)
