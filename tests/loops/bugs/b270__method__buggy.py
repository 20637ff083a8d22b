# bug: B270
# id: average-once-an-epoch
"""A trainer takes the steps of an epoch in a method, and updates torch's average at its end."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class Trainer:
    def __init__(self, model, data):
        self.model, self.data = model, data
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.average = AveragedModel(model, avg_fn=lambda old, new, count: 0.95 * old + 0.05 * new)

    def epoch(self):
        for x in self.data:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), x[:, :1]).backward()
            self.optimizer.step()
        self.average.update_parameters(self.model)  # <-- bug

    def train(self, epochs):
        for _epoch in range(epochs):
            self.epoch()


torch.manual_seed(0)
Trainer(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)), torch.randn(8, 16, 6)).train(6)
