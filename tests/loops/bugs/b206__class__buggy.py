# bug: B206
# id: step-every-micro-batch
import torch
from torch import nn


class Trainer:
    def __init__(self, model, accumulate=3):
        self.model, self.accumulate, self.count = model, accumulate, 0
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def micro_batch(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y) / self.accumulate
        loss.backward()
        self.count += 1
        if self.count >= self.accumulate:  # <-- bug
            self.optimizer.step()
            self.optimizer.zero_grad()


torch.manual_seed(0)
trainer = Trainer(nn.Linear(4, 2))
for _ in range(12):
    trainer.micro_batch(torch.randn(8, 4), torch.randn(8, 2))
