# variant: a wrapper whose optimizers step inside post-accumulate hooks; its own step() and zero_grad() are empty
import torch
from torch import nn


class OptimizerInBackward:
    def __init__(self, model: nn.Module, lr: float) -> None:
        self.optimizers = {}
        for name, p in model.named_parameters():
            kind = torch.optim.SGD if p.ndim == 2 else torch.optim.AdamW
            self.optimizers[name] = kind([p], lr=lr)
            p.register_post_accumulate_grad_hook(self._make_hook(name))

    def _make_hook(self, name: str):
        def hook(p: torch.Tensor) -> None:
            self.optimizers[name].step()
            self.optimizers[name].zero_grad()

        return hook

    def step(self) -> None:
        pass

    def zero_grad(self) -> None:
        pass

    def state_dict(self) -> dict:
        return {name: optimizer.state_dict() for name, optimizer in self.optimizers.items()}


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = OptimizerInBackward(model, lr=1e-2)
for step in range(10):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f} {len(optimizer.state_dict())}")
