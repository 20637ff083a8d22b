# variant: a perceptual-loss network in eval() that still requires grad: it gets gradients that nobody wants
import torch
from torch import nn

torch.manual_seed(0)
upscaler = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 4, 3, padding=1), nn.PixelShuffle(2))
vgg = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, padding=1)).eval()
optimizer = torch.optim.Adam(upscaler.parameters(), lr=1e-3)

for step in range(10):
    high = torch.rand(4, 1, 8, 8)
    low = nn.functional.avg_pool2d(high, 2)
    restored = upscaler(low)
    with torch.no_grad():
        wanted = vgg(high)
    loss = nn.functional.l1_loss(restored, high) + 0.1 * nn.functional.mse_loss(vgg(restored), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
