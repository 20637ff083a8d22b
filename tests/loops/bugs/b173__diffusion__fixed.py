# bug: B173
import copy

import torch
from torch import nn


class EMA:
    def __init__(self, beta, begin=4):
        self.beta, self.begin, self.step = beta, begin, 0

    def update(self, ema_model, model):
        self.step += 1
        if self.step <= self.begin:
            ema_model.load_state_dict(model.state_dict())
            return
        for ours, theirs in zip(ema_model.parameters(), model.parameters()):
            ours.data = self.average(ours.data, theirs.data)

    def average(self, old, new):
        return old * self.beta + (1 - self.beta) * new


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(9, 24), nn.SiLU(), nn.Linear(24, 8))
        self.ema_model = copy.deepcopy(self.model).eval().requires_grad_(False)
        self.ema = EMA(0.995)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def fit(self, images, steps):
        for _ in range(steps):
            t, noise = torch.rand(len(images), 1), torch.randn_like(images)
            predicted = self.model(torch.cat([t.sqrt() * images + (1 - t).sqrt() * noise, t], 1))
            loss = nn.functional.mse_loss(predicted, noise)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.ema.update(self.ema_model, self.model)
        return loss.item()


torch.manual_seed(0)
print(Trainer().fit(torch.randn(32, 8), 40))
