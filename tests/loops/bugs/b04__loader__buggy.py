# bug: B04
# id: zeroed-once-per-epoch
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
train_loader = DataLoader(TensorDataset(torch.randn(40, 8), torch.randn(40, 1)), batch_size=10)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for epoch in range(3):
    model.train()
    optimizer.zero_grad()  # <-- bug
    for features, target in train_loader:
        output = model(features)
        loss = criterion(output, target)
        loss.backward()  # <-- bug
        optimizer.step()
print(f"done, loss {loss.item():.4f}")
