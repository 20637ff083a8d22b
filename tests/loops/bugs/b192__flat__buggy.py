# bug: B192
# id: straight-through-turned
import torch
from torch import nn

torch.manual_seed(0)
table = nn.Embedding(16, 4)
enc, dec = nn.Linear(8, 4), nn.Linear(4, 8)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *table.parameters()], 1e-3)
for _ in range(20):
    x = torch.randn(32, 8)
    z = enc(x)
    q = table(torch.cdist(z, table.weight).argmin(1))
    loss = ((q - z.detach()) ** 2).mean() + 0.25 * (z - q.detach()).pow(2).mean()
    out = q - (q - z).detach()  # <-- bug
    loss = loss + ((dec(out) - x) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
