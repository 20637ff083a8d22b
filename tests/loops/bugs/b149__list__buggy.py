# bug: B149
# id: gradients-nobody-uses
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    def __init__(self, inputs, classes, width=16, depth=3):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = [Residual(width) for _ in range(depth)]  # <-- bug
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.manual_seed(0)
model = Net(8, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for _ in range(20):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
