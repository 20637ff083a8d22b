# bug: B204
# id: schedule-on-another-clock
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def decayed(e):
    return 1.0 if e < 2 else 0.5 ** (e - 1)


torch.manual_seed(0)
data = TensorDataset(torch.randn(40, 5), torch.randint(0, 3, (40,)))
net = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
lr_sched = torch.optim.lr_scheduler.LambdaLR(opt, decayed)
for e in range(4):
    for x, y in DataLoader(data, batch_size=8, shuffle=True):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        lr_sched.step()  # <-- bug
    print(e, lr_sched.get_last_lr())
