# bug: B97
import torch
from torch import nn


class Stepper(nn.Module):
    def __init__(self, symbols=4, hidden=16):
        super().__init__()
        self.embed, self.cell = nn.Embedding(symbols, 8), nn.LSTMCell(8, hidden)
        self.out = nn.Linear(hidden, symbols)

    def step(self, symbol, state):
        h, c = self.cell(self.embed(symbol), state)
        return self.out(h), (h, c)


def repackage(state):
    return tuple(one.detach() for one in state)


def train(model, stream, window=6):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    state = (torch.zeros(len(stream), 16), torch.zeros(len(stream), 16))
    shown = []
    for chunk in stream.split(window, dim=1):
        loss = 0.0
        state = repackage(state)
        for t in range(1, chunk.shape[1]):
            logits, state = model.step(chunk[:, t - 1], state)
            loss = loss + nn.functional.cross_entropy(logits, chunk[:, t])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss.item())
    return shown


torch.manual_seed(0)
print(train(Stepper(), torch.randint(4, (8, 60)))[-1])
