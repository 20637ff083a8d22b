# bug: B293
import tempfile
from pathlib import Path

import torch
from torch import nn


class Trainer:
    def __init__(self, folder, k=3):
        self.model = nn.Linear(6, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.k, self.file = k, Path(folder) / "last.pt"

    def state(self, step):
        return {"step": step, "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def save(self, step):
        torch.save(self.state(step), self.file)

    def fit(self, steps):
        for step in range(steps):
            for i in range(self.k):
                x, y = torch.randn(8, 6), torch.randint(2, (8,))
                loss = nn.functional.cross_entropy(self.model(x), y)
                (loss / self.k).backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            if step % 3 == 2:
                self.save(step)


torch.manual_seed(1)
with tempfile.TemporaryDirectory() as folder:
    Trainer(folder).fit(12)
