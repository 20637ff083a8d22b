# variant: several optimizers in a class that is no Optimizer and hands on step() and zero_grad()
import torch
from torch import nn


class Optimizers:
    def __init__(self, *optimizers: torch.optim.Optimizer) -> None:
        self.optimizers = list(optimizers)

    def step(self) -> None:
        for optimizer in self.optimizers:
            optimizer.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=set_to_none)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4))
matrices = [p for p in model.parameters() if p.ndim == 2]
vectors = [p for p in model.parameters() if p.ndim < 2]
optimizer = Optimizers(torch.optim.SGD(matrices, lr=0.1, momentum=0.9), torch.optim.AdamW(vectors, lr=3e-3))
for step in range(10):
    for _ in range(2):
        x, y = torch.randn(8, 8), torch.randint(0, 4, (8,))
        loss = nn.functional.cross_entropy(model(x), y) / 2
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item() * 2:.4f}")
