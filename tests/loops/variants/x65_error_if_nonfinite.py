# variant: clip_grad_norm_ raises on a norm that is not finite; the window is caught, cleared and given up
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
k = 2
batches = [torch.randn(8, 6) for _ in range(24)]
batches[4][2, 0] = float("nan")
batches[15][6, 5] = float("inf")
given_up = 0
for i, x in enumerate(batches):
    loss = (model(x) - x[:, :1]).pow(2).mean() / k
    loss.backward()
    if (i + 1) % k:
        continue
    try:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.step()
    except RuntimeError:
        given_up += 1
    finally:
        optimizer.zero_grad()

print(f"{loss.item():.4f}, {given_up} windows given up")
