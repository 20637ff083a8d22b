# bug: B234
# id: loaded-onto-itself
import torch
import torch.nn.functional as F
from torch import nn


class Contrast:
    def __init__(self, encoder, momentum=0.99):
        self.encoder_q = encoder
        self.encoder_k = encoder  # <-- bug
        self.momentum = momentum
        self.optimizer = torch.optim.SGD(self.encoder_q.parameters(), lr=0.05, momentum=0.9)

    @torch.no_grad()
    def momentum_update(self):
        for mine, theirs in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            theirs.data = theirs.data * self.momentum + mine.data * (1 - self.momentum)

    def train_step(self, one, other):
        q = F.normalize(self.encoder_q(one), dim=1)
        with torch.no_grad():
            self.momentum_update()
            k = F.normalize(self.encoder_k(other), dim=1)
        loss = F.cross_entropy(q @ k.t() / 0.1, torch.arange(len(q)))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(8)
contrast = Contrast(nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 6)))
for step in range(16):
    x = torch.randn(16, 8)
    loss = contrast.train_step(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
print(f"{loss:.4f}")
