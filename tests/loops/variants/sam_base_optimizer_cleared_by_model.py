# variant: SAM that is no Optimizer, over an AdamW: ascend, clear the model, second backward, go back and step
import torch
from torch import nn


class SAM:
    def __init__(self, model: nn.Module, base: torch.optim.Optimizer, rho: float = 0.05) -> None:
        self.model, self.base, self.rho = model, base, rho
        self.moved: dict[nn.Parameter, torch.Tensor] = {}

    @torch.no_grad()
    def first_step(self) -> None:
        norm = torch.stack([p.grad.norm() for p in self.model.parameters()]).norm()
        for p in self.model.parameters():
            self.moved[p] = p.grad * (self.rho / (norm + 1e-12))
            p.add_(self.moved[p])
        self.model.zero_grad()

    @torch.no_grad()
    def second_step(self) -> None:
        for p in self.model.parameters():
            p.sub_(self.moved.pop(p))
        self.base.step()
        self.model.zero_grad()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
sam = SAM(model, torch.optim.AdamW(model.parameters(), lr=5e-3))
for step in range(9):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    sam.first_step()
    nn.functional.cross_entropy(model(x), y).backward()
    sam.second_step()

print(f"{loss.item():.4f}")
