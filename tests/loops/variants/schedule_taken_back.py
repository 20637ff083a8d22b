# variant: behind a skipped step the schedule is taken back; and one runs on rollouts, made for their number
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Linear(6, 2)
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=1000)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1.0, (n + 1) / 8) * 0.99**n)
for step in range(40):
    x = torch.randn(8, 6)
    loss = 64 * nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    opt.zero_grad()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    schedule.step()
    if scaler.get_scale() < before:
        schedule.last_epoch -= 2
        schedule.step()


class Learner:
    def __init__(self, policy):
        self.policy = policy
        self.opt = torch.optim.AdamW(policy.parameters(), lr=1e-3)

    def schedule_for(self, num_training_steps):
        return torch.optim.lr_scheduler.LambdaLR(
            self.opt, lambda step: 0.5 * (1 + math.cos(math.pi * step / num_training_steps))
        )

    def learn(self, rollouts):
        self.scheduler = self.schedule_for(rollouts)
        for _ in range(rollouts):
            states = torch.randn(32, 4)
            actions = torch.distributions.Categorical(logits=self.policy(states)).sample().detach()
            for rows, taken in DataLoader(TensorDataset(states, actions), batch_size=4):
                chosen = torch.distributions.Categorical(logits=self.policy(rows))
                loss = -(chosen.log_prob(taken) * rows[:, 0]).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            self.scheduler.step()


Learner(nn.Linear(4, 3)).learn(6)
