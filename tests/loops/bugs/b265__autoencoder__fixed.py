# bug: B265
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, inputs=12, latent=3):
        super().__init__()
        self.inward = nn.Linear(inputs, 16)
        self.mu, self.logvar = nn.Linear(16, latent), nn.Linear(16, latent)
        self.outward = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, inputs))

    def forward(self, x):
        h = self.inward(x).relu()
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.outward(z), mu, logvar


def vae_loss(out, x, mu, logvar):
    recon = F.mse_loss(out, x, reduction="sum") / x.size(0)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / x.size(0)
    return recon + kld


torch.manual_seed(0)
data = torch.randn(64, 12)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x in data.split(16):
        out, mu, logvar = model(x)
        loss = vae_loss(out, x, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, f"{loss.item():.4f}")
