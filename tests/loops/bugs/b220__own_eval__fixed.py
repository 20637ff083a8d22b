# bug: B220
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 12)
        self.drop = nn.Dropout(0.3)
        self.rnn = nn.GRU(12, 16, batch_first=True)
        self.out = nn.Linear(16, 4)
        self.judging = False

    def eval(self):
        self.judging = True
        return self.train(False)

    def forward(self, words):
        return self.out(self.rnn(self.drop(self.embed(words)))[0])


def epoch(tagger, optimizer, words, tags):
    tagger.train()
    for a, b in zip(words.split(8), tags.split(8)):
        loss = nn.functional.cross_entropy(tagger(a).flatten(0, 1), b.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def accuracy(tagger, words, tags):
    tagger.eval()
    with torch.no_grad():
        return (tagger(words).argmax(-1) == tags).float().mean().item()


torch.manual_seed(0)
words, tags = torch.randint(30, (64, 7)), torch.randint(4, (64, 7))
tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-3)
for number in range(5):
    epoch(tagger, optimizer, words[:48], tags[:48])
    print(number, accuracy(tagger, words[48:], tags[48:]))
