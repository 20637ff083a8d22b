# variant: an optimizer of a model that this phase never calls steps beside the other one, on nothing
"""Pretraining trains both models, fine-tuning calls one of them; one function steps both optimizers in either phase."""

import torch
import torch.nn.functional as F
from torch import nn


def train(phase, encoder, context, encoder_optimizer, context_optimizer, scheduler):
    for _ in range(10):
        rows, labels = torch.randn(16, 8), torch.randint(0, 3, (16,))
        encoder_optimizer.zero_grad()
        context_optimizer.zero_grad()
        if phase == "pretraining":
            scores, features = encoder(rows)
            others, later = encoder(rows + 0.1 * torch.randn_like(rows))
            loss = F.mse_loss(context(features), later.detach()) + F.mse_loss(context(later), features.detach())
        else:
            scores, features = encoder(rows)
            loss = F.cross_entropy(scores, labels)
        loss.backward()
        encoder_optimizer.step()
        context_optimizer.step()
        if phase != "pretraining":
            scheduler.step(loss.item())


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 12), nn.Linear(12, 3)

    def forward(self, rows):
        features = self.body(rows).tanh()
        return self.head(features), features


torch.manual_seed(0)
encoder = Encoder()
for phase in ("pretraining", "fine-tuning"):
    context = nn.Linear(12, 12)
    encoder_optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
    context_optimizer = torch.optim.Adam(context.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(encoder_optimizer, "min")
    train(phase, encoder, context, encoder_optimizer, context_optimizer, scheduler)
