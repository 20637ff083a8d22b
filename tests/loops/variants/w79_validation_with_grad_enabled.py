# variant: validation that forgot no_grad: graphs are built and dropped, nothing is backwarded
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.MSELoss()
for epoch in range(3):
    model.train()
    for _ in range(3):
        x, y = torch.randn(8, 6), torch.randn(8, 1)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    val_loss = 0.0
    for _ in range(2):
        val_loss += criterion(model(torch.randn(8, 6)), torch.randn(8, 1)).item()

print(f"{loss.item():.4f} {val_loss / 2:.4f}")
