# bug: B214
# id: trained-in-eval-mode
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.randn(96, 6)
y = x.square().sum(1, keepdim=True)
train_loader = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
valid_loader = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

net.train()
for epoch in range(5):
    total = 0.0
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item()
    net.eval()  # <-- bug
    worst = max(criterion(net(inputs), targets).item() for inputs, targets in valid_loader)
    print(f"{total:.3f} {worst:.3f}")
