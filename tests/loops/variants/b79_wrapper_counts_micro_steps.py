# variant: step() is called after every micro-batch, on a wrapper that steps the real optimizer at each fourth call
import torch
from torch import nn


class MultiSteps:
    def __init__(self, optimizer, every):
        self.optimizer, self.every, self.calls = optimizer, every, 0

    def step(self):
        self.calls += 1
        if self.calls % self.every == 0:
            self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = MultiSteps(torch.optim.SGD(model.parameters(), lr=0.05), every=4)
batches = [(torch.randn(6, 10), torch.randint(0, 3, (6,))) for _ in range(32)]

for i, (x, y) in enumerate(batches):
    loss = nn.functional.cross_entropy(model(x), y) / 4
    loss.backward()
    optimizer.step()
    if (i + 1) % 4 == 0:
        optimizer.zero_grad()
print(f"{loss.item() * 4:.4f}")
