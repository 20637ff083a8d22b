# bug: B07
import torch
from torch import nn

torch.manual_seed(0)
IGNORED = -100


class Trainer:
    """Knows how many tokens a whole window has, and hands that to the loss."""

    def __init__(self, model, accumulation_steps):
        self.model = model
        self.accumulation_steps = accumulation_steps
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def compute_loss(self, tokens, labels, num_items=None):
        scores = self.model(tokens).flatten(0, 1)
        total = nn.functional.cross_entropy(scores, labels.flatten(), ignore_index=IGNORED, reduction="sum")
        return total / num_items

    def training_step(self, tokens, labels, num_items):
        loss = self.compute_loss(tokens, labels, num_items)
        loss.backward()
        return loss.item()

    def train(self, batches):
        for at in range(0, len(batches), self.accumulation_steps):
            window = batches[at : at + self.accumulation_steps]
            num_items = sum((labels != IGNORED).sum() for _, labels in window)
            shown = sum(self.training_step(tokens, labels, num_items) for tokens, labels in window)
            self.optimizer.step()
            self.optimizer.zero_grad()
            print(f"{shown:.4f}")


batches = []
for _ in range(24):
    tokens = torch.randint(0, 12, (4, 9))
    labels = (tokens + 1) % 12
    labels[torch.rand(4, 9) < 0.3] = IGNORED
    batches.append((tokens, labels))
Trainer(nn.Sequential(nn.Embedding(12, 16), nn.Linear(16, 12)), 4).train(batches)
