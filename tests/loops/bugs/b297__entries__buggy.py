# bug: B297
# id: summand-without-graph
import argparse

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(layers)])
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        between = []
        for layer in self.layers:
            x = torch.tanh(layer(x))
            between.append(self.head(x))
        return self.head(x), between[:-1]


parser = argparse.ArgumentParser()
parser.add_argument("--interim", type=float, default=0.5)
args = parser.parse_args([])
print(vars(args))
torch.manual_seed(0)
model = Tagger()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(20):
    x, y = torch.randn(16, 6), torch.randint(4, (16,))
    logits, between = model(x)
    interims = torch.empty(len(between))
    for i, each in enumerate(between):
        interim = criterion(each, y)
        interims[i] = interim.item()  # <-- bug
    interim_loss = torch.mean(interims)  # <-- bug
    final = criterion(logits, y)
    loss = final if not between else args.interim * interim_loss + (1 - args.interim) * final
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
