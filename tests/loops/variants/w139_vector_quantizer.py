# variant: VQ-VAE: straight-through codes, detach in both loss terms, codebook moved by an average under no_grad
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 4), nn.Linear(4, 6)
codebook = torch.randn(8, 4)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for step in range(6):
    x = torch.randn(16, 6)
    z = encoder(x)
    index = torch.cdist(z.detach(), codebook).argmin(1)
    q = codebook[index]
    straight = z + (q - z).detach()
    loss = nn.functional.mse_loss(decoder(straight), x) + 0.25 * nn.functional.mse_loss(z, q.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for i in index.unique():
            codebook[i] = 0.9 * codebook[i] + 0.1 * z[index == i].mean(0)

print(f"{loss.item():.4f}")
