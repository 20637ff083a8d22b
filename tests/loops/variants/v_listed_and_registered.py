# variant: layers in a plain list that are registered besides, and an evaluation under @torch.no_grad()
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(depth)]
        self.stack = nn.Sequential(*self.layers)
        self.norms = {name: nn.LayerNorm(width) for name in ("before", "after")}
        for name, norm in self.norms.items():
            self.add_module(f"{name}_norm", norm)
        self.first, self.head = nn.Linear(6, width), nn.Linear(width, 3)

    def forward(self, x):
        x = self.norms["before"](self.first(x))
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return self.head(self.norms["after"](x))


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    said = model(x)
    model.train()
    return (said.argmax(1) == y).float().mean().item()


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(16):
    x = torch.randn(24, 6)
    y = x[:, :3].argmax(1)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    if step % 4 == 3:
        print(accuracy(model, x, y))
