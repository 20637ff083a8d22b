# bug: B101
# id: schedule-on-another-clock
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def fetch_optimizer(model, num_steps, lr=2e-3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, num_steps + 100, pct_start=0.05)
    return optimizer, scheduler


torch.manual_seed(0)
data = torch.randn(96, 6)
loader = DataLoader(TensorDataset(data, data[:, :3].argmax(dim=1)), batch_size=16)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
num_steps = 24
optimizer, scheduler = fetch_optimizer(model, num_steps)
taken = 0
while taken < num_steps:
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        taken += 1
    scheduler.step()  # <-- bug
    print(f"{taken} {loss:.4f} {scheduler.get_last_lr()[0]:.2e}")
