# bug: B190
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.body(x)

    def sparsity(self):
        l1 = 0.0
        for name, p in self.named_parameters():
            if "weight" in name:
                l1 = l1 + p.abs().sum()
        return l1


model = Net()
opt = torch.optim.SGD(model.parameters(), 1e-2)
criterion = nn.MSELoss()
for _ in range(20):
    x = torch.randn(16, 6)
    y = x.sum(1, keepdim=True)
    loss = criterion(model(x), y)
    loss = loss + 1e-4 * model.sparsity()
    opt.zero_grad()
    loss.backward()
    opt.step()
