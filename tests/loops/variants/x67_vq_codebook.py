# variant: accumulation; the codebook is an average of encodings, moved in every forward like BatchNorm's statistics
import torch
from torch import nn


class EMACodebook(nn.Module):
    def __init__(self, codes, dim, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("size", torch.ones(codes))
        self.register_buffer("total", torch.randn(codes, dim))
        self.register_buffer("codes", self.total.clone())

    def forward(self, z):
        index = torch.cdist(z.detach(), self.codes).argmin(1)
        q = self.codes[index]
        if self.training:
            with torch.no_grad():
                chosen = nn.functional.one_hot(index, len(self.codes)).float()
                self.size.mul_(self.decay).add_(chosen.sum(0), alpha=1 - self.decay)
                self.total.mul_(self.decay).add_(chosen.T @ z, alpha=1 - self.decay)
                self.codes.copy_(self.total / self.size.clamp(min=1e-3)[:, None])
        return z + (q - z).detach(), nn.functional.mse_loss(z, q.detach())


torch.manual_seed(0)
encoder, decoder, codebook = nn.Linear(6, 4), nn.Linear(4, 6), EMACodebook(8, 4)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
k = 4
for i in range(40):
    x = torch.randn(8, 6)
    q, commitment = codebook(encoder(x))
    loss = nn.functional.mse_loss(decoder(q), x) + 0.25 * commitment
    (loss / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
