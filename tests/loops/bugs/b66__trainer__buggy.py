# bug: B66
# id: guard-skips-window-end
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    """Sums the gradients of a window and divides by the number of good micro-batches in it."""

    def __init__(self, model, accum):
        self.model, self.accum, self.good = model, accum, 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

    def micro_step(self, index, batch):
        if index % self.accum == 0:
            self.good = 0
        x, y = batch
        loss = nn.functional.smooth_l1_loss(self.model(x), y)
        if not loss.isfinite():  # <-- bug
            return None  # <-- bug
        loss.backward()
        self.good += 1
        if (index + 1) % self.accum == 0:  # <-- bug
            self.optimizer_step()
        return loss.item()

    def optimizer_step(self):
        if self.good:
            for p in self.model.parameters():
                p.grad /= self.good
            nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
            self.optimizer.step()
        self.optimizer.zero_grad()

    def train_epoch(self, loader):
        losses = [self.micro_step(index, batch) for index, batch in enumerate(loader)]
        losses = [loss for loss in losses if loss is not None]
        print(f"{sum(losses) / len(losses):.4f} over {len(losses)} of {len(loader)} batches")


torch.manual_seed(11)
x, y = torch.randn(72, 5), torch.randn(72, 2)
y[17] = y[27] = y[52] = float("inf")
trainer = Trainer(nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2)), accum=3)
loader = DataLoader(TensorDataset(x, y), batch_size=3)
for _ in range(2):
    trainer.train_epoch(loader)
