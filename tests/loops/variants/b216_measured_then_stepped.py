# variant: each epoch first measures the gradients of all batches, one by one, and then takes one step of the whole
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 5)
y = x[:, :1] - x[:, 1:2]
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(6):
    norms = []
    for inputs, targets in loader:
        model.zero_grad()
        criterion(model(inputs), targets).backward()
        norms.append(sum(p.grad.square().sum() for p in model.parameters()).sqrt().item())
    model.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    print(f"{epoch} {max(norms):.4f}")
