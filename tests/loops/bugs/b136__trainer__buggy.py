# bug: B136
# id: guard-skips-window-end
"""A trainer that passes over short sequences, and counts batches of the loader."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, accumulate):
        self.model, self.accumulate, self.done = model, accumulate, 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    def usable(self, batch):
        return batch["length"].item() >= 4

    def fit(self, loader):
        for number, batch in enumerate(loader, 1):
            if not self.usable(batch):
                continue  # <-- bug
            self.done += 1
            loss = F.mse_loss(self.model(batch["x"]), batch["y"])
            loss = loss / self.accumulate
            loss.backward()
            if number % self.accumulate:  # <-- bug
                continue
            self.optimizer.step()  # <-- bug
            self.optimizer.zero_grad()


torch.manual_seed(5)
rows = [{"x": torch.randn(5), "y": torch.randn(2), "length": torch.randint(2, 9, ())} for _ in range(110)]
Trainer(nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2)), 5).fit(DataLoader(rows, batch_size=1))
