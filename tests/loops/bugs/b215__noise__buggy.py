# bug: B215
# id: loss-as-gradient
import torch
import torch.nn.functional as F
from torch import nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 32), nn.GELU(), nn.Linear(32, 2))

    def forward(self, x, t):
        return self.layers(torch.cat([x, t], dim=1))


torch.manual_seed(0)
model = Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    clean, noise, t = torch.randn(32, 2), torch.randn(32, 2), torch.rand(32, 1)
    predicted = model((1 - t) * clean + t * noise, t)
    loss = F.mse_loss(predicted, noise)
    loss.backward(loss)  # <-- bug
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
