# bug: B133
import torch
from torch import nn


def quantise(z, table, beta):
    chosen = (z.pow(2).sum(1, keepdim=True) - 2 * z @ table.t() + table.pow(2).sum(1)).argmin(1)
    q = table.index_select(0, chosen)
    loss = (q - z.detach()).pow(2).mean() + beta * (q.detach() - z).pow(2).mean()
    return z + (q - z).detach(), loss


torch.manual_seed(6)
table = nn.Parameter(torch.randn(10, 3))
encode, decode = nn.Linear(6, 3), nn.Linear(3, 6)
optimizer = torch.optim.SGD([table, *encode.parameters(), *decode.parameters()], lr=0.05)
for x in torch.randn(10, 16, 6):
    code, extra = quantise(encode(x), table, 0.5)
    loss = (decode(code) - x).abs().mean() + extra
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
