# bug: B178
# id: state-handed-without-graph
import torch
from torch import nn


def repackage(state):
    return tuple(one.detach() for one in state)  # <-- bug


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = nn.LSTM(2, 16, batch_first=True)
        self.writer = nn.LSTMCell(16 + 1, 16)
        self.score = nn.Linear(32, 1)
        self.head = nn.Linear(32, 1)

    def forward(self, series, steps):
        memory, (h, c) = self.reader(series)
        h, c = repackage((h[0], c[0]))  # <-- bug
        last, forecast = series[:, -1, :1], []
        for _ in range(steps):
            near = torch.cat([memory, h.unsqueeze(1).expand_as(memory)], 2)
            summary = (self.score(near).softmax(1) * memory).sum(1)
            h, c = self.writer(torch.cat([summary, last], 1), (h, c))
            last = self.head(torch.cat([h, summary], 1))
            forecast.append(last)
        return torch.cat(forecast, 1)


torch.manual_seed(1)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for _ in range(8):
    series = torch.randn(12, 9, 2).cumsum(1)
    optimizer.zero_grad()
    (model(series[:, :6], 3) - series[:, 6:, 0]).pow(2).mean().backward()
    optimizer.step()
