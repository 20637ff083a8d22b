# bug: B268
import torch
import torch.nn.functional as F
from torch import nn


class SelfSupervised(nn.Module):
    def __init__(self, inputs, width, classes):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, 24), nn.ReLU(), nn.Linear(24, width))
        self.projector = nn.Linear(width, 8)
        self.probe = nn.Linear(width, classes)

    def forward(self, one, other, labels):
        h1, h2 = self.encoder(one), self.encoder(other)
        z1, z2 = (F.normalize(self.projector(h), dim=1) for h in (h1, h2))
        loss = F.cross_entropy(z1 @ z2.t() / 0.2, torch.arange(len(one)))
        logits = self.probe(h1.detach())
        return loss, F.cross_entropy(logits, labels)


torch.manual_seed(0)
model = SelfSupervised(8, 16, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(12):
    x = torch.randn(16, 8)
    views = [x + 0.1 * torch.randn_like(x) for _ in range(2)]
    ssl_loss, probe_loss = model(*views, x[:, :3].argmax(1))
    loss = ssl_loss + probe_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(step, f"{ssl_loss.item():.4f} {probe_loss.item():.4f}")
