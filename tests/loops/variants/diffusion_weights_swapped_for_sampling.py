# variant: diffusion: averaged weights swapped into the live model between windows, sampled in train mode, swapped back
from contextlib import contextmanager

import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.model, self.decay = model, decay
        self.shadow = {k: v.detach().clone() for k, v in model.named_parameters()}

    @torch.no_grad()
    def update(self):
        for k, v in self.model.named_parameters():
            self.shadow[k].mul_(self.decay).add_(v, alpha=1 - self.decay)

    @contextmanager
    def applied(self):
        backup = {k: v.detach().clone() for k, v in self.model.named_parameters()}
        with torch.no_grad():
            for k, v in self.model.named_parameters():
                v.copy_(self.shadow[k])
        try:
            yield self.model
        finally:
            with torch.no_grad():
                for k, v in self.model.named_parameters():
                    v.copy_(backup[k])


class FlowTrainer:
    def __init__(self, model, accumulate=2):
        self.model, self.accumulate = model, accumulate
        self.optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        self.ema = EMA(model)

    def loss(self, x1):
        t = torch.rand(len(x1), 1)
        x0 = torch.randn_like(x1)
        velocity = self.model(torch.cat([(1 - t) * x0 + t * x1, t], 1))
        return (velocity - (x1 - x0)).pow(2).mean()

    @torch.no_grad()
    def sample(self, n, steps=5):
        x = torch.randn(n, 3)
        for k in range(steps):
            x = x + self.model(torch.cat([x, torch.full((n, 1), k / steps)], 1)) / steps
        return x

    def run(self, data, sample_every=3):
        for i, x1 in enumerate(data):
            loss = self.loss(x1) / self.accumulate
            loss.backward()
            if (i + 1) % self.accumulate:
                continue
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.ema.update()
            if (i + 1) // self.accumulate % sample_every == 0:
                with self.ema.applied():
                    print(f"{i + 1}: {loss.item() * self.accumulate:.4f} {self.sample(4).std().item():.3f}")


torch.manual_seed(8)
net = nn.Sequential(nn.Linear(4, 24), nn.GELU(), nn.Dropout(0.1), nn.Linear(24, 3))
FlowTrainer(net).run([torch.randn(8, 3) * 0.2 + 1 for _ in range(20)])
