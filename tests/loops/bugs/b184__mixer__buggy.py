# bug: B184
# id: gradients-nobody-uses
import torch
import torch.nn.functional as F
from torch import nn


class Mixer(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.body = nn.Linear(inputs, 16)
        self.mix = torch.randn(16, classes, requires_grad=True)  # <-- bug

    def forward(self, x):
        return self.body(x).relu() @ self.mix


torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :3].argmax(1)
model = Mixer(8, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for a, b in zip(x.split(8), y.split(8), strict=True):
    loss = F.cross_entropy(model(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
