# bug: B204
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
decay_epochs = [3, 5]
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=decay_epochs, gamma=0.1)
loader = DataLoader(TensorDataset(torch.randn(60, 6), torch.randint(3, (60,))), batch_size=10, shuffle=True)
for _ in range(6):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    scheduler.step()
print(scheduler.get_last_lr())
