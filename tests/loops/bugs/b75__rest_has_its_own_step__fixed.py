# bug: B75
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = DataLoader(TensorDataset(torch.randn(28, 6), torch.randn(28, 1)), batch_size=2)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
steps = 4
for epoch in range(3):
    for batch, (x, y) in enumerate(data):
        loss = nn.functional.mse_loss(model(x), y) / steps
        loss.backward()
        if (batch + 1) % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    if (batch + 1) % steps != 0:
        optimizer.step()
        optimizer.zero_grad()
    print(epoch, f"{loss.item():.4f}")
