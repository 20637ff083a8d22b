# variant: a network grows: candidates get a gradient to be measured by, the best one joins the optimizer
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.blocks, self.out = nn.Linear(8, 16), nn.ModuleList(), nn.Linear(16, 1)

    def forward(self, x):
        h = torch.relu(self.enter(x))
        for block in self.blocks:
            h = h + block(h)
        return self.out(h)


def loss_of(net):
    return nn.functional.mse_loss(net(x), y)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(64, 8)
y = x[:, :1] * x[:, 1:2]
for _ in range(3):
    for _ in range(8):
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
    gains = []
    for _ in range(2):
        candidate = nn.Linear(16, 16)
        net.blocks.append(candidate)
        optimizer.zero_grad()
        loss_of(net).backward()
        gains.append((candidate.weight.grad.norm().item(), candidate))
        del net.blocks[-1]
    best = max(gains, key=lambda gain: gain[0])[1]
    net.blocks.append(best)
    optimizer.add_param_group({"params": best.parameters()})
net.blocks.append(nn.Linear(16, 16))  # how far is another one from being of use?
optimizer.zero_grad()
loss_of(net).backward()
print(net.blocks[-1].weight.grad.norm().item())
