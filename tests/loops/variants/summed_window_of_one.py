# variant: a loop that sums windows, with windows of one: each sum is one loss, of two views through one encoder
import torch
from torch import nn

torch.manual_seed(6)
encoder = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
pairs, accumulate, window_loss = torch.randn(20, 2, 8, 6), 1, 0.0


def loss_of(pair):
    first, second = encoder(pair[0]), encoder(pair[1])
    return nn.functional.mse_loss(first, second) - 0.1 * first.std(0).mean()


for i, pair in enumerate(pairs):
    window_loss = window_loss + loss_of(pair) / accumulate
    if (i + 1) % accumulate == 0:
        window_loss.backward()
        window_loss = 0.0
        optimizer.step()
        optimizer.zero_grad()
