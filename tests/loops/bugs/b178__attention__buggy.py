# bug: B178
# id: state-handed-without-graph
import torch
from torch import nn
from torch.nn import functional as F


class Translator(nn.Module):
    def __init__(self, words=12, width=24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.encoder = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.decoder = nn.GRU(2 * width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, source, target):
        seen, state = self.encoder(self.embed(source))
        hidden = state[-1:].data  # <-- bug
        scores = []
        for t in range(target.shape[1]):
            weights = (seen @ hidden[-1].unsqueeze(2)).softmax(1)
            context = (weights * seen).sum(1, keepdim=True)
            given = torch.cat([self.embed(target[:, t : t + 1]), context], 2)
            output, hidden = self.decoder(given, hidden)
            scores.append(self.out(output))
        return torch.cat(scores, 1)


torch.manual_seed(0)
model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(8):
    source = torch.randint(1, 12, (8, 5))
    target = torch.cat([torch.zeros(8, 1, dtype=torch.long), source.flip(1)], 1)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
