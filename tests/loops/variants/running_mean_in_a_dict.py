# variant: undivided losses; the mean gradient is kept in a dictionary as a running mean and handed over at the end
import torch
from torch import nn


class MeanGradient:
    def __init__(self, model: nn.Module) -> None:
        self.model, self.mean, self.n = model, {}, 0

    def update(self) -> None:
        self.n += 1
        for name, p in self.model.named_parameters():
            old = self.mean.get(name, torch.zeros_like(p))
            self.mean[name] = old + (p.grad - old) / self.n
        self.model.zero_grad()

    def apply(self) -> None:
        for name, p in self.model.named_parameters():
            p.grad = self.mean.pop(name)
        self.n = 0


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
mean_gradient = MeanGradient(model)
for i in range(32):
    x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    mean_gradient.update()
    if mean_gradient.n == 4:
        mean_gradient.apply()
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
