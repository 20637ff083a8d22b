# variant: parts of a loss that are scaled one by one, by the scaler and by hand
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
for _ in range(20):
    x = torch.randn(8, 6)
    keep = torch.rand(8, 6) > 0.5
    y = model(x * keep)
    loss = scaler.scale(F.mse_loss(y[~keep], x[~keep])) + scaler.scale(0.1 * F.mse_loss(y[keep], x[keep]))
    loss = loss + scaler.get_scale() * 1e-4 * sum(p.square().sum() for p in model.parameters())
    optimizer.zero_grad()
    loss.backward()
    (1e-5 * sum(p.abs().sum() for p in model.parameters()) * scaler.get_scale()).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
