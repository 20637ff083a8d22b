# variant: one trial step on a single undivided batch to see that everything runs, then windows of four
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
k = 4


def loss_on_a_batch() -> torch.Tensor:
    x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))
    return nn.functional.cross_entropy(model(x), y)


loss_on_a_batch().backward()
assert all(p.grad is not None for p in model.parameters())
optimizer.step()
optimizer.zero_grad()

for i in range(36):
    loss = loss_on_a_batch()
    (loss / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
