# bug: B67
# id: average-every-micro-batch
# severity: info
import copy

import torch
from torch import nn


class EMA(nn.Module):
    """Counts its calls, and takes in the weights at every tenth."""

    def __init__(self, model, decay=0.99, update_every=10, begin=60):
        super().__init__()
        self.online = [model]
        self.ema_model = copy.deepcopy(model).requires_grad_(False)
        self.decay, self.update_every, self.begin = decay, update_every, begin
        self.register_buffer("calls", torch.tensor(0))

    @torch.no_grad()
    def update(self):
        self.calls += 1
        if self.calls.item() % self.update_every:
            return
        decay = 0.0 if self.calls.item() <= self.begin else self.decay
        for mine, theirs in zip(self.ema_model.parameters(), self.online[0].parameters()):
            mine.lerp_(theirs, 1 - decay)


class Accelerator:
    """Steps and clears at the end of a window alone."""

    def __init__(self, optimizer, window):
        self.optimizer, self.window, self.count, self.sync_gradients = optimizer, window, 0, False

    def backward(self, loss):
        self.count += 1
        self.sync_gradients = self.count % self.window == 0
        (loss / self.window).backward()

    def step(self):
        if self.sync_gradients:
            self.optimizer.step()
            self.optimizer.zero_grad()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 6))
accelerator = Accelerator(torch.optim.AdamW(model.parameters(), lr=1e-3), 3)
ema_model = EMA(model)
for epoch in range(3):
    for _ in range(30):
        x = torch.randn(8, 6)
        loss = nn.functional.mse_loss(model(x), x)
        accelerator.backward(loss)
        accelerator.step()
        ema_model.update()  # <-- bug
    print(epoch, loss.item())
