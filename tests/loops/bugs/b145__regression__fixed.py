# bug: B145
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(120, 5)
loader = DataLoader(TensorDataset(x, x @ torch.randn(5)), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
criterion = nn.MSELoss()


def run_epoch():
    total = 0.0
    for inputs, y in loader:
        pred = model(inputs)
        loss = criterion(pred, y.unsqueeze(1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


for epoch in range(4):
    print(f"epoch {epoch}: {run_epoch():.4f}")
