# bug: B116
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 8)
train = DataLoader(TensorDataset(x[:64], x[:64, :1]), batch_size=8, shuffle=True)
held_out = DataLoader(TensorDataset(x[64:], x[64:, :1]), batch_size=16)
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


@torch.no_grad()
def validate():
    model.eval()
    return sum(nn.functional.mse_loss(model(a), b).item() for a, b in held_out)


for epoch in range(4):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
    print(epoch, validate())
