# bug: B226
# id: summand-without-graph
import torch
import torch.nn.functional as F
from torch import nn


class Renderer(nn.Module):
    """Draws bumps at the places that it is given; nothing in it is learned."""

    def __init__(self, size):
        super().__init__()
        self.register_buffer("grid", torch.linspace(-1, 1, size))

    def forward(self, places):
        drawn = torch.exp(-8 * (places.unsqueeze(2) - self.grid) ** 2).sum(1)
        return drawn


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2), nn.Tanh())
        self.renderer = Renderer(12)

    def compute_loss(self, picture, places):
        found = self.net(picture)
        supervised = F.mse_loss(found, places)
        rendered = F.mse_loss(self.renderer(found), picture)
        return supervised + 0.5 * rendered.item()  # <-- bug


torch.manual_seed(1)
model = Finder()
render = Renderer(12)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(16):
    places = torch.rand(16, 2) * 2 - 1
    optimizer.zero_grad()
    loss = model.compute_loss(render(places), places)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
