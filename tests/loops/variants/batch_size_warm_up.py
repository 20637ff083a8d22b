# variant: batch-size warm-up: the first window has one micro-batch, the second two, then four; each divides by its own
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(140, 6), torch.randint(0, 3, (140,))), batch_size=4)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
micro_step, size, sizes = 0, 1, []
for x, y in loader:
    loss = nn.functional.cross_entropy(model(x), y)
    (loss / size).backward()
    micro_step += 1
    if micro_step == size:
        optimizer.step()
        optimizer.zero_grad()
        sizes.append(size)
        micro_step, size = 0, min(2 * size, 4)

print(f"{loss.item():.4f} {sizes}")
