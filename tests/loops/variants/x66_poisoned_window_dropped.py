# variant: one bad micro-batch gives up its whole window: at the boundary it is cleared in place of stepped
import torch
from torch import nn


class Trainer:
    def __init__(self, model, accum):
        self.model, self.accum, self.poisoned = model, accum, False
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.dropped = 0

    def micro_step(self, i, x, y):
        if not self.poisoned:
            loss = nn.functional.mse_loss(self.model(x), y) / self.accum
            if torch.isfinite(loss):
                loss.backward()
            else:
                self.poisoned = True
        if (i + 1) % self.accum == 0:
            self.close()

    def close(self):
        if self.poisoned:
            self.dropped += 1
        else:
            self.optimizer.step()
        self.optimizer.zero_grad()
        self.poisoned = False


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1)), accum=4)
for i in range(44):
    x, y = torch.randn(6, 6), torch.randn(6, 1)
    if i in (7, 18):
        y[0] = float("nan")
    trainer.micro_step(i, x, y)
print(f"{trainer.dropped} windows dropped")
