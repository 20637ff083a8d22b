# bug: B192
# id: straight-through-turned
import torch
from torch import nn

torch.manual_seed(0)


class VQ(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.codebook = nn.Embedding(n, d)

    def forward(self, z):
        d = torch.cdist(z, self.codebook.weight)
        q = self.codebook(d.argmin(1))
        loss = ((q - z.detach()) ** 2).mean() + 0.25 * ((q.detach() - z) ** 2).mean()
        return q - (q - z).detach(), loss  # <-- bug


enc, dec, vq = nn.Linear(8, 4), nn.Linear(4, 8), VQ(16, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *vq.parameters()], 1e-3)
for _ in range(20):
    x = torch.randn(32, 8)
    z = enc(x)
    zq, vql = vq(z)
    loss = ((dec(zq) - x) ** 2).mean() + vql
    opt.zero_grad()
    loss.backward()
    opt.step()
