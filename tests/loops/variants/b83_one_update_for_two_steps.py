# variant: two optimizers under one scaler in a helper: scaler.step for each of them, one update() for both
import torch
from torch import nn


class Amp:
    def __init__(self, *optimizers, scale=512.0):
        self.optimizers, self.scaler = optimizers, torch.amp.GradScaler("cpu", init_scale=scale)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def step(self):
        for optimizer in self.optimizers:
            self.scaler.step(optimizer)
        self.scaler.update()
        for optimizer in self.optimizers:
            optimizer.zero_grad()


torch.manual_seed(2)
auto = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 6))
disc = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
amp = Amp(torch.optim.Adam(auto.parameters(), lr=1e-3), torch.optim.Adam(disc.parameters(), lr=1e-3))
bce = nn.BCEWithLogitsLoss()
for i in range(10):
    x, ones = torch.randn(8, 6), torch.ones(8, 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        recon = auto(x)
        disc.requires_grad_(False)
        loss = nn.functional.l1_loss(recon, x) + 0.1 * bce(disc(recon), ones)
        disc.requires_grad_(True)
    amp.backward(loss)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        d_loss = bce(disc(x), ones) + bce(disc(recon.detach()), 0 * ones)
    amp.backward(d_loss)
    amp.step()
print(f"{loss.item():.4f} {d_loss.item():.4f}")
