# bug: B07
# id: divided-twice
# severity: warning
import torch
from torch import nn

torch.manual_seed(3)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.rnn = nn.GRU(8, 12, batch_first=True)
        self.out = nn.Linear(12, 5)

    def forward(self, words):
        return self.out(self.rnn(self.embed(words))[0])


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
words = torch.randint(0, 20, (60, 7))
tags = words % 5
for epoch in range(3):
    for batch in torch.randperm(60).split(8):
        x, y = words[batch], tags[batch]
        scores = model(x)
        nll = -scores.log_softmax(-1).gather(-1, y.unsqueeze(-1)).squeeze(-1)
        optimizer.zero_grad()
        (nll.mean() / x.size(0)).backward()  # <-- bug
        optimizer.step()
