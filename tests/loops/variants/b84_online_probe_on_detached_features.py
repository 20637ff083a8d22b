# variant: an online probe on h.detach(): the encoder learns by its own loss, the probe by the labels
import torch
from torch import nn


class DenoisingAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 12), nn.ReLU())
        self.decoder = nn.Linear(12, 8)
        self.probe = nn.Linear(12, 3)

    def forward(self, x):
        h = self.encoder(x)
        return self.decoder(h), self.probe(h.detach())


torch.manual_seed(5)
model = DenoisingAutoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(12):
    x, y = torch.randn(10, 8), torch.randint(0, 3, (10,))
    restored, logits = model(x + 0.2 * torch.randn_like(x))
    loss = nn.functional.mse_loss(restored, x)
    probe_loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    (loss + probe_loss).backward()
    optimizer.step()
print(f"{loss.item():.4f} {probe_loss.item():.4f}")
