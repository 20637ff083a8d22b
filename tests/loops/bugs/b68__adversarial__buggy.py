# bug: B68
# id: auxiliary-loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn


class Noise:
    """Moves the embeddings along the gradient, and back."""

    def __init__(self, model):
        self.weight, self.kept = model[0].weight, None

    def attack(self):
        self.kept = self.weight.data.clone()
        self.weight.data.add_(0.1 * self.weight.grad / (self.weight.grad.norm() + 1e-8))

    def restore(self):
        self.weight.data = self.kept


def smooth(logits, other, labels):
    fit = (F.cross_entropy(logits, labels) + F.cross_entropy(other, labels)) / 2
    apart = F.kl_div(logits.log_softmax(-1), other.softmax(-1), reduction="batchmean")
    return fit + 0.3 * apart


torch.manual_seed(0)
accumulate = 4
model = nn.Sequential(nn.Embedding(30, 8), nn.Flatten(), nn.Dropout(0.1), nn.Linear(40, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
noise = Noise(model)
for step in range(1, 33):
    words, labels = torch.randint(0, 30, (8, 5)), torch.randint(0, 3, (8,))
    loss = smooth(model(words), model(words), labels) / accumulate
    loss.backward()
    noise.attack()
    adversarial_loss = smooth(model(words), model(words), labels)
    adversarial_loss.backward()  # <-- bug
    noise.restore()
    if step % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
