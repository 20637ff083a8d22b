# variant: a scheduler that an option leaves where it is
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

DECAY = False

torch.manual_seed(0)
x = torch.randn(48, 4)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2)
for epoch in range(4):
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if DECAY:
        scheduler.step()
print(f"{loss.item():.4f}")
