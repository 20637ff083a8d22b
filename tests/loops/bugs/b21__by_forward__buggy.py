# bug: B21
# id: stepped-inside-autocast
import torch
from torch import nn

torch.manual_seed(3)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 12)
        self.mix = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 12))
        self.head = nn.Linear(12, 6)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        return self.head(hidden + self.mix(hidden))


def evaluate(tagger, tokens):
    tagger.eval()
    with torch.no_grad():
        print(f"{loss_of(tagger(tokens), tokens):.3f}")
    tagger.train()


def loss_of(scores, tokens):
    return nn.functional.cross_entropy(scores.float().flatten(0, 1), (tokens % 6).flatten())


def train_one_epoch(tagger, optimizer, data):
    with torch.autocast("cpu", dtype=torch.bfloat16):  # <-- bug
        for tokens in data:
            loss = loss_of(tagger.forward(tokens), tokens)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


tagger = Tagger()
optimizer = torch.optim.AdamW(tagger.parameters(), lr=3e-3)
data = torch.randint(0, 40, (16, 8, 9))
evaluate(tagger, data[0])
for epoch in range(2):
    train_one_epoch(tagger, optimizer, data)
    evaluate(tagger, data[0])
