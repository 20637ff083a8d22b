# bug: B101
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 10)
loader = DataLoader(TensorDataset(x, x[:, :1].sin()), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
epochs = 4
scheduler = OneCycleLR(optimizer, max_lr=0.05, epochs=epochs, steps_per_epoch=len(loader))

for epoch in range(epochs):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, lr {scheduler.get_last_lr()[0]:.4f}")
