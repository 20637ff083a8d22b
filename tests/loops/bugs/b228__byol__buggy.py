# bug: B228
# id: weights-drawn-back
"""BYOL on vectors: the target network averages the online one, with a decay that rises to 1 on a cosine."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn


class EMA:
    def __init__(self, beta, total):
        self.base, self.beta, self.total, self.step = beta, beta, total, 0

    def update_average(self, old, new):
        return old * self.beta + (1 - self.beta) * new

    def advance(self):
        self.step += 1
        self.beta = 1 - (1 - self.base) * (math.cos(math.pi * self.step / self.total) + 1) / 2


def update_moving_average(ema_updater, ma_model, current_model):
    for current_params, ma_params in zip(current_model.parameters(), ma_model.parameters()):
        old_weight, up_weight = ma_params.data, current_params.data
        ma_params.data = ema_updater.update_average(old_weight, up_weight)


class BYOL(nn.Module):
    def __init__(self, encoder, width, total):
        super().__init__()
        self.online_encoder = encoder
        self.online_predictor = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, width))
        self.target_encoder = copy.deepcopy(encoder).requires_grad_(False)
        self.target_ema_updater = EMA(0.97, total)

    def update(self):
        update_moving_average(self.target_ema_updater, self.online_encoder, self.target_encoder)  # <-- bug
        self.target_ema_updater.advance()

    def forward(self, one, two):
        predictions = self.online_predictor(self.online_encoder(torch.cat([one, two])))
        with torch.no_grad():
            projections = self.target_encoder(torch.cat([two, one]))
        return (2 - 2 * F.cosine_similarity(predictions, projections, dim=-1)).mean()


torch.manual_seed(0)
learner = BYOL(nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8)), 8, total=24)
opt = torch.optim.Adam(learner.parameters(), lr=3e-3)
for _ in range(24):
    x = torch.randn(32, 8)
    loss = learner(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
    learner.update()
