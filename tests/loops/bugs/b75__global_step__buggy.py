# bug: B75
# id: window-starts-short
import torch
from torch import nn


class Pretrainer:
    """Trains for a number of micro-batches; the data have no end and no epochs."""

    def __init__(self, model, stream, lr=2e-3, accumulate=4):
        self.model, self.stream, self.accumulate = model, stream, accumulate
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.1, 1.0, total_iters=4)
        self.global_step = 0

    def loss(self, batch):
        masked = batch.clone()
        hidden = torch.rand_like(batch) < 0.3
        masked[hidden] = 0.0
        return nn.functional.l1_loss(self.model(masked), batch)

    def train(self, max_steps):
        log = []
        while self.global_step < max_steps:
            batch = next(self.stream)
            loss = self.loss(batch) / self.accumulate
            loss.backward()
            if self.global_step % self.accumulate == 0:  # <-- bug
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad()
                log.append(loss.item() * self.accumulate)
            self.global_step += 1
        return log


def stream(generator):
    while True:
        yield torch.randn(5, 9, generator=generator)


torch.manual_seed(2)
auto_encoder = nn.Sequential(nn.Linear(9, 5), nn.Tanh(), nn.Linear(5, 9))
log = Pretrainer(auto_encoder, stream(torch.Generator().manual_seed(0))).train(max_steps=40)
print(len(log), f"{log[-1]:.4f}")
