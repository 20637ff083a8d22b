# variant: the recurrent layer of a language model is clipped, and its embedding and output are not: a note.
import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(9, 8), nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 9)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(10):
    x = torch.randint(0, 9, (6, 8))
    loss = F.cross_entropy(model(x[:, :-1]).transpose(1, 2), x[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.rnn.parameters(), 0.01)
    optimizer.step()
print(f"{loss.item():.4f}")
