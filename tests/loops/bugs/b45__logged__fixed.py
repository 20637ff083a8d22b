# bug: B45
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
saliency = []
for step in range(16):
    images = torch.randn(8, 1, 8, 8).requires_grad_()
    labels = torch.randint(4, (8,))
    optimizer.zero_grad()
    scores = model(images)
    (by_pixel,) = torch.autograd.grad(scores.max(dim=1).values.sum(), images, retain_graph=True)
    saliency.append(by_pixel.abs().mean().item())
    loss = F.cross_entropy(scores, labels)
    loss.backward()
    optimizer.step()
print(f"saliency: {sum(saliency) / len(saliency):.4f}")
