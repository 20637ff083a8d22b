# variant: an option that is off and an auxiliary head that was taken out stay in the optimizer, beside a fixed model
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.aux = nn.Linear(8, 16), nn.Linear(16, 3), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


torch.manual_seed(0)
net = Net()
scale = nn.Parameter(torch.ones(3))
features = nn.Sequential(nn.Linear(3, 12), nn.Tanh()).eval()
optimizer = torch.optim.Adam([*net.parameters(), scale], lr=1e-3)
del net.aux
use_scale = False

for _ in range(12):
    x = torch.randn(16, 8)
    out = net(x) * scale if use_scale else net(x)
    loss = nn.functional.mse_loss(features(out), features(x[:, :3]).detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
