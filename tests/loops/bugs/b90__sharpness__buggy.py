# bug: B90
# id: summand-without-graph
import numpy as np
import torch
from torch import nn


def sharpness(images):
    pixels = images.data.cpu().numpy()  # <-- bug
    edges = np.abs(np.diff(pixels, axis=-1))
    return float(edges.mean())


torch.manual_seed(0)
torch.set_num_threads(1)
denoiser = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(denoiser.parameters(), lr=1e-3)
for step in range(16):
    clean = torch.rand(4, 1, 12, 12)
    noisy = clean + 0.1 * torch.randn_like(clean)
    restored = noisy - denoiser(noisy)
    loss = nn.functional.mse_loss(restored, clean)
    loss = loss - 0.05 * sharpness(restored)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
