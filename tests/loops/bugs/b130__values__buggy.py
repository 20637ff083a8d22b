# bug: B130
# id: clipped-another-model
import torch
from torch import nn


class Trainer:
    def __init__(self, model, limit):
        self.model, self.limit = model, limit
        self.weights = [p.data for p in model.parameters()]
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def fit(self, batches):
        for x, y in batches:
            nn.functional.cross_entropy(self.model(x), y).backward()
            self.finish()

    def finish(self):
        torch.nn.utils.clip_grad_norm_(self.weights, max_norm=self.limit)  # <-- bug
        self.optimizer.step()
        self.optimizer.zero_grad()


torch.manual_seed(1)
data = [(torch.randn(16, 6), torch.randint(0, 3, (16,))) for _ in range(6)]
Trainer(nn.Linear(6, 3), 0.1).fit(data)
