# variant: optimizer in the backward; one batch has four tasks, whose losses are averaged (/ 4)
import torch
from torch import nn


class FourHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(16, 2) for _ in range(4)])

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        h = self.trunk(x)
        return [head(h) for head in self.heads]


torch.manual_seed(0)
model = FourHeads()
optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in model.parameters()}


def hook(p: torch.Tensor) -> None:
    optimizers[p].step()
    optimizers[p].zero_grad(set_to_none=False)


for p in model.parameters():
    p.register_post_accumulate_grad_hook(hook)

for step in range(10):
    x = torch.randn(8, 6)
    targets = [torch.randint(0, 2, (8,)) for _ in range(4)]
    loss = sum(nn.functional.cross_entropy(out, t) for out, t in zip(model(x), targets)) / 4
    loss.backward()

print(f"{loss.item():.4f}")
