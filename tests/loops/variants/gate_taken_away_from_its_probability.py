# variant: a straight-through by subtraction, z - (z - hard).detach(), right way round
import torch
from torch import nn

torch.manual_seed(0)


def binarize(z):
    h = (z > 0.5).float()
    return z - (z - h).detach()


enc, dec = nn.Linear(8, 4), nn.Linear(4, 8)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 1e-3)
for _ in range(20):
    x = torch.randn(32, 8)
    z = torch.sigmoid(enc(x))
    code = binarize(z)
    loss = ((dec(code) - x) ** 2).mean() + 0.01 * z.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
