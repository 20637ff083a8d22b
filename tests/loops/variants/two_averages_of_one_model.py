# variant: two averages of one model, one of which is updated again before it is ever read; and one once an epoch alone
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(2)
net = nn.Linear(5, 2)
fast = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.8))
slow = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.99))
fast.update_parameters(net)
fast.update_parameters(net)
swa = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(5):
    for _ in range(8):
        x = torch.randn(16, 5)
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        fast.update_parameters(net)
        slow.update_parameters(net)
    swa.update_parameters(net)
