# truth: never-zeroed
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""The hand-written clear walks over the blocks and forgets the head."""


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(6, 12), nn.Linear(12, 12)])
        self.head = nn.Linear(12, 1)

    def forward(self, x):
        for b in self.blocks:
            x = torch.relu(b(x))
        return self.head(x)


net = Net()
opt = torch.optim.Rprop(net.parameters(), lr=1e-3)
for it in range(10):
    for b in net.blocks:
        for p in b.parameters():
            p.grad = None  # <-- bug
    x = torch.randn(8, 6)
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    loss.backward()  # <-- bug
    opt.step()
