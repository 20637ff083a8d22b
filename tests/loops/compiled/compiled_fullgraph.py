# variant: torch.compile(fullgraph=True) on a class with dropout and a residual, loss inside the graph, clipped
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + F.dropout(self.down(F.gelu(self.up(self.norm(x)))), 0.1, self.training)


class Model(nn.Module):
    def __init__(self, dim=12, classes=4):
        super().__init__()
        self.inp, self.blocks = nn.Linear(6, dim), nn.ModuleList(Block(dim) for _ in range(2))
        self.out = nn.Linear(dim, classes)

    def forward(self, x, y):
        h = self.inp(x)
        for block in self.blocks:
            h = block(h)
        return F.cross_entropy(self.out(h), y)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.compile(Model(), fullgraph=True, dynamic=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loader = DataLoader(TensorDataset(torch.randn(48, 6), torch.randint(0, 4, (48,))), batch_size=8)
    for epoch in range(2):
        model.train()
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = model(x, y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            print(f"{epoch} {loss.item():.10f}")


if __name__ == "__main__":
    main()
