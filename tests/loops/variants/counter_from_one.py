# variant: the counter starts at one (enumerate(loader, 1)), so step % k == 0 ends whole windows
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,))), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
k = 4
for epoch in range(3):
    for step, (x, y) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(x), y) / k
        loss.backward()
        if step % k == 0:
            optimizer.step()
            optimizer.zero_grad()

print(f"{loss.item() * k:.4f}")
