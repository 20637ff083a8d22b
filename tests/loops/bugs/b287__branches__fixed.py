# bug: B287
import torch
from torch import nn

torch.manual_seed(1)


class Fusion(nn.Module):
    """A pretrained trunk that stays as it is, beside a small branch of one's own."""

    def __init__(self, channels):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.trunk = Trunk(channels)
        self.head = nn.Linear(2 * channels, 4)

    def forward(self, images):
        return self.head(self.trunk(torch.relu(self.stem(images))).mean((2, 3)))


class Trunk(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.frozen = nn.Conv2d(channels, channels, 3, padding=1)
        self.side = nn.Conv2d(channels, channels, 1)
        self.frozen.requires_grad_(False)

    def forward(self, features):
        kept = self.frozen(features)
        return torch.cat([kept, self.side(features)], dim=1)


net = Fusion(6)
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1, momentum=0.9)
images = torch.randn(80, 1, 8, 8)
labels = (images.mean((1, 2, 3)) > 0).long() + 2 * (images[:, 0, 0, 0] > 0).long()
for step in range(30):
    rows = torch.randint(0, 80, (20,))
    loss = nn.functional.cross_entropy(net(images[rows]), labels[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
