# bug: B164
import torch
import torch.nn.functional as F
from torch import nn


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 10))

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code), code


def losses(model, x):
    rebuilt, code = model(x)
    recon_loss = F.mse_loss(rebuilt, x)
    return recon_loss, (code**2).mean()


torch.manual_seed(6)
model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(20):
    recon, prior = losses(model, torch.randn(16, 10).cumsum(1))
    optimizer.zero_grad()
    (recon + 0.01 * prior).backward()
    optimizer.step()
print(f"{recon.item():.4f}")
