# bug: B100
# id: sampled-without-graph
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 2 * 3)
        self.decoder = nn.Linear(3, 8)

    def forward(self, x):
        mean, log_scale = self.encoder(x).chunk(2, dim=-1)
        code = Normal(mean, log_scale.exp())
        return self.decoder(code.sample()), code  # <-- bug


torch.manual_seed(0)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 8)
    again, code = model(x)
    loss = F.mse_loss(again, x) + 0.01 * kl_divergence(code, Normal(0.0, 1.0)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
