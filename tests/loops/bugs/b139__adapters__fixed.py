# bug: B139
import torch
import torch.nn.functional as F
from torch import nn


class Adapted(nn.Linear):
    """A frozen layer with an adapter, which is merged into the weight in eval mode."""

    def __init__(self, inputs, outputs, rank=2):
        super().__init__(inputs, outputs)
        self.weight.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, inputs) * 0.1)
        self.up = nn.Parameter(torch.zeros(outputs, rank))
        self.dropout = nn.Dropout(0.1)
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if mode == self.merged:
            self.weight.data += (-1 if mode else 1) * (self.up @ self.down).detach()
            self.merged = not mode
        return self

    def forward(self, x):
        plain = F.linear(x, self.weight, self.bias)
        return plain if self.merged else plain + self.dropout(x) @ self.down.T @ self.up.T


torch.manual_seed(0)
model = nn.Sequential(Adapted(6, 16), nn.ReLU(), Adapted(16, 3))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
held_out = torch.randn(32, 6)
for step in range(24):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    F.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
    if step % 8 == 7:
        model.eval()
        with torch.no_grad():
            print(f"{(model(held_out).argmax(1) == held_out[:, :3].argmax(1)).float().mean():.2f}")
        model.train()
