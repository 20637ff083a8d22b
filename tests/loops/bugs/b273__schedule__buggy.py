# bug: B273
# id: remainder-of-one
import torch
from torch import nn


class Trainer:
    def __init__(self, model, every=4):
        self.model, self.every = model, every
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def lower(self):
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.5

    def fit(self, batches):
        for step, (x, y) in enumerate(batches):
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            if step + 1 % self.every == 0:  # <-- bug
                self.lower()


torch.manual_seed(0)
Trainer(nn.Linear(5, 2)).fit([(torch.randn(8, 5), torch.randn(8, 2)) for _ in range(16)])
