# bug: B184
# id: gradients-nobody-uses
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.open = torch.zeros(width).requires_grad_()  # <-- bug
        self.turn = nn.Linear(width, width)

    def forward(self, x):
        return self.turn(x * torch.sigmoid(self.open))


def fit(net, x, y, steps=40):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(64, 6)
print(fit(nn.Sequential(Gate(6), nn.ReLU(), nn.Linear(6, 1)), x, x[:, :1] * 2))
