# bug: B32
# id: graph-cut
"""A language model whose state goes from one chunk of the text to the next; its embedding is a table of its own."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, words=30, width=16):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, words, state):
        vectors = self.embed(words).detach()  # <-- bug
        hidden, state = self.rnn(vectors, state)
        return self.out(hidden), state


torch.manual_seed(0)
text = torch.randint(0, 30, (4, 121))
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    state = torch.zeros(1, 4, 16)
    for at in range(0, 120, 10):
        logits, state = model(text[:, at : at + 10], state.detach())
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, at + 1 : at + 11].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
