# variant: main and auxiliary loss each divided by k, on lines of their own, each with a backward of its own
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 4))
decoder = nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 8))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
k, beta = 4, 0.1
for i in range(40):
    x = torch.randn(6, 8)
    mu, logvar = encoder(x).chunk(2, dim=-1)
    z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
    recon_loss = nn.functional.mse_loss(decoder(z), x) / k
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1).mean()
    kl_loss = beta * kl * (1 / k)
    recon_loss.backward(retain_graph=True)
    kl_loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{recon_loss.item() * k:.4f} {kl.item():.4f}")
