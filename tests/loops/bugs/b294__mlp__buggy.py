# bug: B294
# id: graph-cut
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.layers = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        residual = x.detach()  # <-- bug
        x = self.layers(self.norm(x))
        return x + residual


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), Block(16), Block(16), nn.Linear(16, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(20):
        x, y = torch.randn(16, 6), torch.randint(3, (16,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


main()
