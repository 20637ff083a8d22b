# truth: layer-replaced-after-optimizer
"""The head is made anew after the optimizer; gradients also pass through a network that is not trained, made first."""

import torch
from torch import nn

torch.manual_seed(0)
features = nn.Sequential(nn.Linear(3, 6), nn.Tanh()).eval()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # <-- bug
print(features(torch.randn(4, 3)).shape)
net.head = nn.Linear(16, 3)  # <-- bug
for _ in range(12):
    x, y = torch.randn(16, 8), torch.randn(16, 3)
    loss = nn.functional.mse_loss(features(net(x)), features(y).detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
