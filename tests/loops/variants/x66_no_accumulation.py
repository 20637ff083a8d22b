# variant: no accumulation: bad batches are passed over by a continue above a modulo test that only prints
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(96, 6), torch.randn(96, 1)
y[[31, 62]] = float("nan")
loader = DataLoader(TensorDataset(x, y), batch_size=4)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
log_every, running = 4, 0.0
for i, (inputs, targets) in enumerate(loader):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    if not torch.isfinite(loss):
        continue
    loss.backward()
    optimizer.step()
    running = 0.9 * running + 0.1 * loss.item()
    if (i + 1) % log_every == 0:
        print(f"batch {i + 1}: {running:.4f}")
