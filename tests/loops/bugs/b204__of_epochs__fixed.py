# bug: B204
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
n_epochs = 12
period = 4
loader = DataLoader(TensorDataset(torch.randn(48, 5), torch.randn(48, 1)), batch_size=8)
model = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=period, gamma=0.5)
for ep in range(n_epochs):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    print(ep, f"{total:.4f}")
