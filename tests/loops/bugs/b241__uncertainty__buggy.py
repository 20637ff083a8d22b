# bug: B241
# id: gradients-nobody-uses
import torch
from torch import nn


class TwoTasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_sigma = nn.Parameter(torch.zeros(2))
        self.trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.depth = nn.Linear(16, 1)
        self.label = nn.Linear(16, 4)

    def forward(self, x):
        shared = self.trunk(x)
        return self.depth(shared), self.label(shared)


torch.manual_seed(5)
net = TwoTasks()
heads = nn.ModuleList([net.depth, net.label])
optimizer = torch.optim.Adam(  # <-- bug
    [{"params": net.trunk.parameters(), "lr": 1e-2}, {"params": heads.parameters(), "lr": 2e-2}]
)
for step in range(25):
    x = torch.randn(32, 6)
    depth, label = net(x)
    first = nn.functional.mse_loss(depth, x[:, :1].abs())
    second = nn.functional.cross_entropy(label, x[:, 1:5].argmax(1))
    loss = sum(torch.exp(-s) * one + s for s, one in zip(net.log_sigma, (first, second), strict=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print([round(s, 3) for s in net.log_sigma.tolist()], f"{loss.item():.3f}")
