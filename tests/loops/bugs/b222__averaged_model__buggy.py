# bug: B222
# id: average-factors-swapped
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


class Ema(AveragedModel):
    def __init__(self, model, decay):
        def ema_avg(old, new, count):
            return (1 - decay) * old + decay * new  # <-- bug

        super().__init__(model, avg_fn=ema_avg, use_buffers=True)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
ema = Ema(net, decay=0.98)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
for step in range(60):
    x = torch.randn(32, 6)
    nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 3 == 0:
        ema.update_parameters(net)
