# bug: B99
# id: frozen-by-attribute
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, freeze):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.rnn = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, 5)
        if freeze:
            self.embedding.requires_grad = False  # <-- bug

    def forward(self, tokens):
        return self.out(self.rnn(self.embedding(tokens))[0])


def train(model, optimizer, steps=10):
    for _ in range(steps):
        tokens = torch.randint(20, (4, 7))
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), (tokens % 5).flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


torch.manual_seed(0)
tagger = Tagger(freeze=True)
train(tagger, torch.optim.Adam((p for p in tagger.parameters() if p.requires_grad), lr=1e-2))
