# bug: B38
# id: low-precision-accumulation
import torch
from torch import nn


class Trainer:
    def __init__(self, model, accum):
        self.model = model.bfloat16()  # <-- bug
        self.accum = accum
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)

    def micro_step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x.bfloat16()).float(), y) / self.accum
        loss.backward()  # <-- bug

    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def fit(self, updates):
        for _ in range(updates):
            for _ in range(self.accum):
                self.micro_step(torch.randn(3, 6), torch.randint(0, 4, (3,)))
            self.step()


torch.manual_seed(1)
Trainer(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)), accum=24).fit(6)
