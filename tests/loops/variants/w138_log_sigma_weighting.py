# variant: learned task weights (log variances) as plain parameters beside the model's in one optimizer
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
log_vars = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([{"params": model.parameters()}, {"params": [log_vars], "lr": 1e-2}], lr=1e-3)
for step in range(6):
    x = torch.randn(8, 6)
    out = model(x)
    per_task = torch.stack([(out[:, 0] - x[:, 0]).pow(2).mean(), (out[:, 1] - 10 * x[:, 1]).pow(2).mean()])
    loss = (torch.exp(-log_vars) * per_task + log_vars).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f} {log_vars[0].item():.4f}")
