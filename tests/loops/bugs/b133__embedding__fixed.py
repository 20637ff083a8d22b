# bug: B133
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Quantised(nn.Module):
    def __init__(self, codes=12, dim=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, dim))
        self.codebook = nn.Embedding(codes, dim)
        self.decoder = nn.Linear(dim, 8)

    def forward(self, x, beta=0.25):
        z = self.encoder(x)
        nearest = torch.cdist(z, self.codebook.weight).argmin(1)
        q = self.codebook(nearest)
        codebook = F.mse_loss(q, z.detach())
        commitment = F.mse_loss(z, q.detach())
        out = self.decoder(z + (q - z).detach())
        return F.mse_loss(out, x) + codebook + beta * commitment


model = Quantised()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for batch in torch.randn(10, 32, 8):
    loss = model(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
