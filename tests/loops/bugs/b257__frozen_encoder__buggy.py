# bug: B257
# id: teacher-in-train-mode
import torch
from torch import nn


class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 12), nn.Dropout(0.1), nn.ReLU(), nn.Linear(12, 4))

    def encode(self, x):
        return self.encoder(x)  # <-- bug


def main():
    torch.manual_seed(0)
    codes = Codes()
    for param in codes.parameters():
        param.requires_grad = False
    denoise = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 4))
    optimizer = torch.optim.AdamW(denoise.parameters(), lr=1e-3)
    for _ in range(12):
        with torch.no_grad():
            latents = codes.encode(torch.randn(8, 6))
        noise = torch.randn_like(latents)
        loss = nn.functional.mse_loss(denoise(latents + noise), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
