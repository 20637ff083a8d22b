# bug: B218
# id: straight-through-cut
import torch
import torch.nn.functional as F
from torch import nn


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(16, 4)

    def forward(self, code):
        index = torch.cdist(code, self.table.weight).argmin(1)
        nearest = self.table(index)
        commitment = F.mse_loss(nearest.detach(), code)
        table_loss = F.mse_loss(nearest, code.detach())
        nearest = (code + nearest - code).detach()  # <-- bug
        return nearest, table_loss + 0.25 * commitment


torch.manual_seed(0)
encoder, quantizer, decoder = nn.Linear(10, 4), Quantizer(), nn.Linear(4, 10)
weights = [*encoder.parameters(), *quantizer.parameters(), *decoder.parameters()]
optimizer = torch.optim.Adam(weights, lr=1e-3)
for step in range(30):
    x = torch.randn(24, 10)
    code, loss = quantizer(encoder(x))
    loss = loss + F.mse_loss(decoder(code), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
