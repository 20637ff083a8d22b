# bug: B27
# id: frozen-with-stale-gradient
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def clear(model):
    for p in model.parameters():
        if p.requires_grad:  # <-- bug
            p.grad = None


def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)  # <-- bug


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(32, 8), torch.randint(0, 3, (32,))), batch_size=8)

for epoch in range(4):
    if epoch == 2:
        freeze(model[0])
    for x, y in loader:
        clear(model)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()  # <-- bug
print(loss.item())
