# bug: B239
# id: schedule-on-another-clock
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def warm_and_fall(warm, total):
    return lambda n: min(1.0, (n + 1) / warm) * (1 - n / total)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 5), torch.randn(64, 1)), batch_size=8)
net = nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
number = 3 * len(loader)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_and_fall(4, number))
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()  # <-- bug
