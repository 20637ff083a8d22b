# variant: functions that call their argument an epoch, as torch's docs do, and count steps by what they hold
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(40, 5), torch.randn(40, 1)), batch_size=8)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
total_steps = 4 * len(loader)
head = torch.optim.SGD(model[2].parameters(), lr=0.1)
trunk = torch.optim.SGD(model[0].parameters(), lr=0.1)
schedules = [
    torch.optim.lr_scheduler.LambdaLR(head, lambda epoch: 1 - epoch / total_steps),
    torch.optim.lr_scheduler.LambdaLR(trunk, lambda epoch: 0.999**epoch),
]
for epoch in range(4):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        for one, schedule in zip((head, trunk), schedules):
            one.zero_grad()
        loss.backward()
        for one, schedule in zip((head, trunk), schedules):
            one.step()
            schedule.step()
