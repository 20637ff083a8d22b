# bug: B108
import torch
from torch import nn
from torch.nn import functional as F


class Quantiser(nn.Module):
    def __init__(self, codes, width):
        super().__init__()
        self.codes = nn.Embedding(codes, width)

    def forward(self, z):
        nearest = torch.cdist(z.detach(), self.codes.weight.detach()).argmin(1)
        q = self.codes(nearest)
        penalty = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return q, penalty


torch.manual_seed(0)
encode, quantise, decode = nn.Linear(12, 4), Quantiser(16, 4), nn.Linear(4, 12)
parameters = [*encode.parameters(), *quantise.parameters(), *decode.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-2)
for _ in range(8):
    x = torch.randn(32, 12)
    q, penalty = quantise(encode(x))
    loss = F.mse_loss(decode(q), x) + penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
