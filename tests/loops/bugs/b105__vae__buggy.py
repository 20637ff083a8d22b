# bug: B105
# id: drawn-with-zero-gradient
import torch
from torch import nn
from torch.nn import functional as F


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(12, 8), nn.Linear(4, 12)

    def draw(self, mean, log_variance):
        return torch.normal(mean, (0.5 * log_variance).exp())  # <-- bug

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2, dim=1)
        return self.decode(self.draw(mean, log_variance)), mean, log_variance


torch.manual_seed(6)
model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(10):
    x = torch.rand(16, 12)
    seen, mean, log_variance = model(x)
    divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum()
    loss = F.mse_loss(seen, x, reduction="sum") + 0.1 * divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
