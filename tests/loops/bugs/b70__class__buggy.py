# bug: B70
# id: optimizer-in-backward-accumulates
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class FusedTrainer:
    """Full fine-tuning with the optimizer inside backward: no gradient outlives its layer."""

    def __init__(self, model, loader, lr=0.05, epochs=2, accumulation_steps=4):
        self.model, self.loader, self.lr, self.epochs = model, loader, lr, epochs
        self.accumulation_steps = accumulation_steps
        self.total_steps = epochs * len(loader) // accumulation_steps
        self.global_step = 0
        self.optimizers = {}
        for p in model.parameters():
            self.optimizers[p] = torch.optim.SGD([p], lr=lr, momentum=0.9)
            p.register_post_accumulate_grad_hook(self._update)

    def _update(self, p):
        optimizer = self.optimizers[p]
        optimizer.step()  # <-- bug
        optimizer.zero_grad(set_to_none=True)

    def _set_lr(self):
        lr = self.lr * 0.5 * (1 + math.cos(math.pi * self.global_step / self.total_steps))
        for optimizer in self.optimizers.values():
            optimizer.param_groups[0]["lr"] = lr

    def fit(self):
        history = []
        running = 0.0
        for _ in range(self.epochs):
            for i, (tokens, targets) in enumerate(self.loader):
                loss = nn.functional.cross_entropy(self.model(tokens).transpose(1, 2), targets)
                loss = loss / self.accumulation_steps
                loss.backward()  # <-- bug
                running += loss.item()
                if (i + 1) % self.accumulation_steps == 0:
                    self.global_step += 1
                    self._set_lr()
                    history.append(running)
                    running = 0.0
        return history


torch.manual_seed(1)
ids = torch.randint(0, 13, (64, 7))
dataset = TensorDataset(ids[:, :-1], ids[:, 1:])
net = nn.Sequential(nn.Embedding(13, 8), nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 13))
trainer = FusedTrainer(net, DataLoader(dataset, batch_size=4, shuffle=True))
losses = trainer.fit()
print(f"{trainer.global_step} steps, {losses[0]:.3f} -> {losses[-1]:.3f}")
