# variant: matrices alone are trained, and they alone are clipped; the biases stay as they were made
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.LayerNorm(12), nn.ReLU(), nn.Linear(12, 3))
matrices = [p for p in model.parameters() if p.ndim > 1]
for p in model.parameters():
    p.requires_grad_(p.ndim > 1)
optimizer = torch.optim.SGD(matrices, lr=0.1)
for _ in range(12):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
