# variant: a constant stands beside the loss, and a weight that changes in front of one part
import math

import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 4), nn.Linear(2, 6)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
entropy = torch.tensor(0.5 * 6 * math.log(2 * math.pi))
for step in range(12):
    x = torch.randn(16, 6)
    mean, log_var = encoder(x).chunk(2, dim=-1)
    code = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
    error = 0.5 * (decoder(code) - x).pow(2).sum(-1).mean()
    kl = 0.5 * (mean.pow(2) + log_var.exp() - 1 - log_var).sum(-1).mean()
    beta = min(1.0, step / 8)
    loss = error + beta * kl + entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
