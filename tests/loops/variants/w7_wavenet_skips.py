# variant: the skips of all blocks make the output; nobody uses what the last block hands on: one layer has no gradient
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, channels, skip_channels, dilation):
        super().__init__()
        self.pad = dilation
        self.conv = nn.Conv1d(channels, 2 * channels, 2, dilation=dilation)
        self.res = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, skip_channels, 1)

    def forward(self, x):
        signal, gate = self.conv(F.pad(x, (self.pad, 0))).chunk(2, dim=1)
        out = torch.tanh(signal) * torch.sigmoid(gate)
        return x + self.res(out), self.skip(out)


class WaveNet(nn.Module):
    def __init__(self, levels=16, channels=8, skip_channels=12, depth=3):
        super().__init__()
        self.embed = nn.Embedding(levels, channels)
        self.blocks = nn.ModuleList(Block(channels, skip_channels, 2**i) for i in range(depth))
        self.end = nn.Conv1d(skip_channels, levels, 1)

    def forward(self, samples):
        x = self.embed(samples).transpose(1, 2)
        skips = 0
        for block in self.blocks:
            x, skip = block(x)
            skips = skips + skip
        return self.end(F.relu(skips))


torch.manual_seed(0)
model = WaveNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
wave = ((torch.sin(torch.arange(600) * 0.3) + 1) * 7.5).round().long()
for step in range(12):
    at = torch.randint(0, 560, (8,))
    rows = torch.stack([wave[i : i + 33] for i in at])
    loss = F.cross_entropy(model(rows[:, :-1]), rows[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
