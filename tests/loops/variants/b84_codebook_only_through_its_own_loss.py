# variant: a VQ bottleneck: the codebook is cut off from the reconstruction and learns through its own loss alone
import torch
from torch import nn


class VQ(nn.Module):
    def __init__(self, codes=8, dim=4):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)

    def forward(self, z):
        with torch.no_grad():
            index = torch.cdist(z, self.codebook.weight).argmin(1)
        q = self.codebook(index)
        loss = (q - z.detach()).pow(2).mean() + 0.25 * (z - q.detach()).pow(2).mean()
        return z + (q - z).detach(), loss


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.vq, self.dec = nn.Linear(6, 4), VQ(), nn.Linear(4, 6)

    def forward(self, x):
        q, loss = self.vq(self.enc(x))
        return self.dec(q), loss


torch.manual_seed(1)
model = VQVAE()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
for _ in range(12):
    x = torch.randn(16, 6)
    out, vq_loss = model(x)
    loss = nn.functional.mse_loss(out, x) + vq_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
