# bug: B218
import torch
import torch.nn.functional as F
from torch import nn


class VQVAE(nn.Module):
    def __init__(self, size=8, code=4, entries=32):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, 32), nn.ReLU(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, size))
        self.codes = nn.Embedding(entries, code)

    def quantise(self, z):
        index = torch.cdist(z, self.codes.weight).argmin(dim=1)
        q = self.codes(index)
        learnt = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return q, learnt

    def forward(self, x):
        q, learnt = self.quantise(self.encoder(x))
        return self.decoder(q), learnt


torch.manual_seed(0)
model = VQVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(20):
    x = torch.randn(32, 8)
    said, learnt = model(x)
    loss = F.mse_loss(said, x) + learnt
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
