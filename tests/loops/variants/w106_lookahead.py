# variant: Lookahead: a wrapper that is no Optimizer, slow weights copied back every k steps
import torch
from torch import nn


class Lookahead:
    def __init__(self, optimizer: torch.optim.Optimizer, k: int = 3, alpha: float = 0.5) -> None:
        self.optimizer, self.k, self.alpha, self.counter = optimizer, k, alpha, 0
        self.slow = [[p.clone().detach() for p in group["params"]] for group in optimizer.param_groups]

    def zero_grad(self) -> None:
        self.optimizer.zero_grad()

    def step(self) -> None:
        self.optimizer.step()
        self.counter += 1
        if self.counter % self.k == 0:
            for group, slow in zip(self.optimizer.param_groups, self.slow):
                for p, q in zip(group["params"], slow):
                    q.add_(p.data - q, alpha=self.alpha)
                    p.data.copy_(q)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = Lookahead(torch.optim.Adam(model.parameters(), lr=1e-2))
for step in range(7):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    loss = (model(x) - x[:, :1]).pow(2).mean()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
