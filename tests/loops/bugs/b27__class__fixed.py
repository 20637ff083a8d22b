# bug: B27
import torch
from torch import nn


class Alternating:
    """Trains both halves, then only the second one."""

    def __init__(self):
        self.first = nn.Linear(5, 8)
        self.second = nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD(
            [{"params": self.first.parameters()}, {"params": self.second.parameters(), "lr": 0.02}], lr=0.05
        )
        self.active = [self.first, self.second]

    def freeze_first(self):
        self.first.requires_grad_(False)
        self.first.zero_grad()
        self.active = [self.second]

    def step(self, x, y):
        for module in self.active:
            module.zero_grad()
        loss = nn.functional.mse_loss(self.second(torch.relu(self.first(x))), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(3)
trainer = Alternating()
for n in range(12):
    if n == 4:
        trainer.freeze_first()
    x = torch.randn(10, 5)
    last = trainer.step(x, x.norm(dim=1, keepdim=True))
print(f"{last:.4f}")
