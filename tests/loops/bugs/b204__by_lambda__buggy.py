# bug: B204
# id: schedule-on-another-clock
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_epoch(model, loader, optimizer, scheduler):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()  # <-- bug
        total += loss.item()
    return total


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(48, 5), torch.randn(48, 1)), batch_size=8)
model = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda epoch: 0.9**epoch)
for epoch in range(5):
    total = train_epoch(model, loader, optimizer, scheduler)
    print(epoch, f"{total:.4f}")
