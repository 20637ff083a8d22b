# bug: B90
# id: summand-without-graph
import torch
import torch.nn.functional as F
from torch import nn


class Perceptual(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3)).requires_grad_(False)

    def forward(self, made, wanted):
        with torch.no_grad():  # <-- bug
            of_made = self.features(made)  # <-- bug
            of_wanted = self.features(wanted)  # <-- bug
        content = F.l1_loss(of_made, of_wanted)
        return content, None


class Upscaler:
    def __init__(self):
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
        self.perceptual = Perceptual()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def train_step(self, small, wanted):
        self.optimizer.zero_grad()
        self.output = self.net(F.interpolate(small, scale_factor=2))
        total = 0
        pixels = F.l1_loss(self.output, wanted)
        total += pixels
        content, style = self.perceptual(self.output, wanted)
        total += content
        if style is not None:
            total += style
        total.backward()
        self.optimizer.step()
        return total.item()


torch.manual_seed(0)
model = Upscaler()
for _ in range(14):
    wanted = torch.rand(4, 1, 12, 12)
    loss = model.train_step(F.avg_pool2d(wanted, 2), wanted)
print(f"{loss:.4f}")
