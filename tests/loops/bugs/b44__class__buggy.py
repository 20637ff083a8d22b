# bug: B44
# id: guard-skips-window-end
# window: 2
import torch
import torch.nn.functional as F
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(15, 6)
        self.rnn = nn.GRU(6, 6, batch_first=True, bidirectional=True)
        self.out = nn.Linear(12, 4)

    def forward(self, tokens):
        return self.out(self.rnn(self.embed(tokens))[0])


class Trainer:
    def __init__(self, model, accum):
        self.model = model
        self.accum = accum
        self.steps = 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

    def process(self, tokens, tags):
        self.steps += 1  # <-- bug
        if (tags == -100).all():  # nothing to learn from
            return  # <-- bug
        logits = self.model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), tags.flatten(), ignore_index=-100)
        (loss / self.accum).backward()
        if self.steps % self.accum == 0:  # <-- bug
            self.optimizer.step()
            self.optimizer.zero_grad()


torch.manual_seed(4)
trainer = Trainer(Tagger(), accum=2)
for index in range(20):
    tokens = torch.randint(0, 15, (3, 5))
    tags = torch.randint(0, 4, (3, 5))
    if index in (3, 7, 10, 16):
        tags.fill_(-100)
    trainer.process(tokens, tags)
