# variant: a measure in NumPy is printed, and a summand of the same loss is a function of the user's with a graph
import numpy as np
import torch
from torch import nn


def peak(images):
    return float(np.abs(images.detach().numpy()).max())


def smooth(images):
    shown = images.detach().numpy()
    assert np.isfinite(shown).all()
    return (images[..., 1:] - images[..., :-1]).abs().mean()


torch.manual_seed(0)
net = nn.Conv2d(1, 1, 3, padding=1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(12):
    clean = torch.rand(4, 1, 8, 8)
    made = net(clean + 0.1 * torch.randn_like(clean))
    loss = nn.functional.mse_loss(made, clean)
    loss = loss + 0.1 * smooth(made)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f} {peak(made):.2f}")
