# variant: compressed gradients with error feedback: what top-k drops is kept outside and added at the next step
import torch
from torch import nn


class ErrorFeedback:
    def __init__(self, model: nn.Module, keep: float = 0.25) -> None:
        self.model, self.keep = model, keep
        self.residual = {n: torch.zeros_like(p) for n, p in model.named_parameters()}

    def compress(self) -> None:
        for name, p in self.model.named_parameters():
            full = p.grad + self.residual[name]
            k = max(1, int(self.keep * full.numel()))
            threshold = full.abs().flatten().topk(k).values[-1]
            sparse = torch.where(full.abs() >= threshold, full, torch.zeros_like(full))
            self.residual[name] = full - sparse
            p.grad = sparse


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
feedback = ErrorFeedback(model)
for step in range(8):
    optimizer.zero_grad()
    for _ in range(4):
        x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))
        (nn.functional.cross_entropy(model(x), y) / 4).backward()
    feedback.compress()
    optimizer.step()

print(f"{nn.functional.cross_entropy(model(x), y).item():.4f}")
