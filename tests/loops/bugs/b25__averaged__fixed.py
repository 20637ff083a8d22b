# bug: B25
from contextlib import contextmanager

import torch
from torch import nn


class Ratings(nn.Module):
    def __init__(self):
        super().__init__()
        self.items, self.out = nn.Embedding(10, 8), nn.Linear(8, 1)

    def forward(self, ids):
        return self.out(torch.tanh(self.items(ids))).squeeze(-1)


class Average:
    def __init__(self, model, decay=0.9):
        self.decay, self.shadow = decay, {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)

    @contextmanager
    def in_place(self, model):
        """Puts the average into the model for an evaluation."""
        kept = {name: p.detach().clone() for name, p in model.named_parameters()}
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(self.shadow[name])
            yield
            for name, p in model.named_parameters():
                p.copy_(kept[name])


torch.manual_seed(0)
model = Ratings()
model.items = nn.Embedding.from_pretrained(torch.randn(10, 8), freeze=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu")
average = Average(model)
for epoch in range(3):
    optimizer.zero_grad()
    for index in range(8):
        ids, target = torch.randint(0, 10, (16,)), torch.randn(16)
        loss = nn.functional.mse_loss(model(ids), target) / 2
        scaler.scale(loss).backward()
        if (index + 1) % 2 == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            average.update(model)
    with average.in_place(model):
        model(torch.arange(10))
