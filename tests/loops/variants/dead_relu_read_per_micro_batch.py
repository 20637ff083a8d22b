# variant: a dead ReLU layer under accumulation: its gradients are exact zeros, and are read after every micro-batch
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 12), nn.ReLU(), nn.Linear(12, 1))
with torch.no_grad():
    model[2].bias.fill_(-50.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
k = 4
for i in range(32):
    x = torch.randn(5, 6)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)) / k
    loss.backward()
    zero = [name for name, p in model.named_parameters() if p.grad.count_nonzero() == 0]
    if (i + 1) % k == 0:
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item() * k:.4f} {norm.item():.4f} without a gradient: {zero}")
