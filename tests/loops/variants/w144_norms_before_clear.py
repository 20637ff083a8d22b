# variant: gradients of the last step kept for the log and cleared only at the start of the next window
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
log: list[dict[str, float]] = []
for step in range(5):
    if step:
        log.append({n: p.grad.norm().item() for n, p in model.named_parameters()})
    optimizer.zero_grad()
    for _ in range(2):
        x = torch.randn(8, 6)
        ((model(x) - x[:, :1]).pow(2).mean() / 2).backward()
    optimizer.step()

print(f"{len(log)} {log[-1]['0.weight']:.4f}")
