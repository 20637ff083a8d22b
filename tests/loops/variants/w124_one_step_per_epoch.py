# variant: one step per epoch on the whole data set, gone through in micro-batches: cleared once per epoch, rightly
# reference: yes
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(30, 6, dtype=torch.float64), torch.randn(30, 1, dtype=torch.float64)
train_loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)).double()
optimizer = torch.optim.Rprop(model.parameters())


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for epoch in range(4):
    optimizer.zero_grad()
    for xb, yb in train_loader:
        loss = nn.functional.mse_loss(model(xb), yb) * (len(xb) / len(x))
        loss.backward()
    optimizer.step()

print(f"{nn.functional.mse_loss(model(x), y).item():.4f}")
