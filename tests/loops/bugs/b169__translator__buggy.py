# bug: B169
# id: clipped-one-part
"""Two recurrent networks, one behind the other; the clip is given one of them."""

import torch
import torch.nn.functional as F
from torch import nn


class Translator(nn.Module):
    def __init__(self, words=11, width=12):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.encoder, self.decoder = nn.GRU(width, width, batch_first=True), nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, source, target):
        _, state = self.encoder(self.embed(source))
        hidden, _ = self.decoder(self.embed(target), state)
        return self.out(hidden)


def train(model, optimizer, batches):
    for source in batches:
        target = source.flip(1)
        loss = F.cross_entropy(model(source, target[:, :-1]).transpose(1, 2), target[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.decoder.parameters(), 0.05)  # <-- bug
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
print(f"{train(model, optimizer, [torch.randint(0, 11, (8, 6)) for _ in range(12)]):.4f}")
