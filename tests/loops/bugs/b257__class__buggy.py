# bug: B257
# id: teacher-in-train-mode
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, size, layers):
        super().__init__()
        self.embed = nn.Embedding(20, size)
        self.rnn = nn.GRU(size, size, layers, batch_first=True, dropout=0.1)

    def forward(self, words):
        return self.rnn(self.embed(words))[0].mean(1)


class Distiller:
    def __init__(self, state, size=12):
        self.teacher = Encoder(size, 3)
        self.teacher.load_state_dict(state)
        self.student = Encoder(size, 1)
        self.opt = torch.optim.Adam(self.student.parameters(), lr=2e-3)

    def epoch(self, batches):
        self.student.train()
        total = 0.0
        for words in batches:
            wanted = self.teacher(words).detach()  # <-- bug
            loss = F.mse_loss(self.student(words), wanted)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(batches)


torch.manual_seed(2)
distiller = Distiller(Encoder(12, 3).state_dict())
batches = [torch.randint(20, (8, 5)) for _ in range(7)]
for epoch in range(3):
    distiller.epoch(batches)
