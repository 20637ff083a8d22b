# bug: B07
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)
encoder, decoder = nn.Linear(8, 3), nn.Linear(3, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
accum = 3
optimizer.zero_grad()
for i in range(24):
    x = torch.randn(10, 8)
    code = encoder(x)
    rebuilt = F.mse_loss(decoder(code), x)
    loss = rebuilt + 0.1 * code.pow(2).mean()
    (loss / accum).backward()
    if (i + 1) % accum == 0:
        optimizer.step()
        optimizer.zero_grad()
