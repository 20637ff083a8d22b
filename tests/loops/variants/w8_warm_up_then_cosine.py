# variant: two schedulers in one, of which only the whole is stepped, by epochs that its function calls steps
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, SequentialLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(60, 4)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=6)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
warm_up = LambdaLR(optimizer, lambda step: (step + 1) / 2)
scheduler = SequentialLR(optimizer, [warm_up, CosineAnnealingLR(optimizer, T_max=4)], milestones=[2])
for epoch in range(6):
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
print(f"{loss.item():.4f}")
