# variant: VAE, summed loss per batch as in the examples, only the logged value divided
import torch
from torch import nn

torch.manual_seed(1)
enc, dec = nn.Linear(12, 8), nn.Sequential(nn.Linear(4, 12), nn.Sigmoid())
vae = nn.ModuleList([enc, dec])
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
train_loss, rows = 0.0, 0
for batch_idx in range(6):
    data = torch.rand(8, 12)
    optimizer.zero_grad()
    mu, logvar = enc(data).chunk(2, dim=1)
    z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
    bce = nn.functional.binary_cross_entropy(dec(z), data, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = bce + kld
    loss.backward()
    train_loss += loss.item()
    rows += len(data)
    optimizer.step()

print(f"{train_loss / rows:.4f}")
