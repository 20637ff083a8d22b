# bug: B179
# id: norm-without-graph
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 24, batch_first=True)
        self.linear = nn.Linear(24, 12)

    def forward(self, frames):
        _, (hidden, _) = self.lstm(frames)
        raw = self.linear(hidden[-1])
        return raw / raw.data.norm(dim=1, keepdim=True)  # <-- bug


torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
voices = torch.randn(4, 1, 1, 6)
for step in range(8):
    frames = (voices + torch.randn(4, 5, 7, 6)).flatten(0, 1)
    embedded = model(frames).view(4, 5, 12)
    centres = embedded.mean(1)
    centres = centres / torch.norm(centres, dim=1, keepdim=True)
    scores = 10 * embedded.flatten(0, 1) @ centres.T - 5
    loss = nn.functional.cross_entropy(scores, torch.arange(4).repeat_interleave(5))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
