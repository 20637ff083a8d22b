# bug: B300
import torch
import torch.nn.functional as F
from torch import nn


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(8, 4), nn.Linear(4, 8)

    def forward(self, x):
        return self.decoder(torch.relu(self.encoder(x)))


def spectrum_loss(guess, x, weight=0.3):
    return weight * (torch.fft.rfft(guess).abs() - torch.fft.rfft(x).abs()).square().mean()


def train(model, steps=20):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        x = torch.randn(16, 8)
        guess = model(x)
        loss = F.l1_loss(guess, x) + spectrum_loss(guess, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
train(AutoEncoder())
