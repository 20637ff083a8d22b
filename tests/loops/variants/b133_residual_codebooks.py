# variant: two tables in a row, the second for what the first one leaves; each comparison has one constant
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(8)
encoder, decoder = nn.Linear(6, 4), nn.Linear(4, 6)
tables = nn.ModuleList([nn.Embedding(8, 4), nn.Embedding(8, 4)])
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), *tables.parameters()], lr=1e-3)
for x in torch.randn(8, 24, 6):
    z = encoder(x)
    rest, total, loss = z, 0, 0
    for table in tables:
        q = table(torch.cdist(rest.detach(), table.weight).argmin(1))
        loss = loss + F.mse_loss(q, rest.detach()) + 0.25 * F.mse_loss(rest, q.detach())
        rest, total = rest - q.detach(), total + q
    loss = loss + F.mse_loss(decoder(z + (total - z).detach()), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
