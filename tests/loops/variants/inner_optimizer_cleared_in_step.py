# variant: an SGD with an Adagrad for the embedding tables inside, which is cleared in step(), the rest by zero_grad()
import torch
from torch import nn


class DenseAndTables(torch.optim.SGD):
    def __init__(self, dense, tables, lr: float, table_lr: float) -> None:
        super().__init__(dense, lr=lr, momentum=0.9)
        self.tables = torch.optim.Adagrad(tables, lr=table_lr)

    def step(self, closure=None):
        loss = super().step(closure)
        self.tables.step()
        self.tables.zero_grad()
        return loss


torch.manual_seed(0)
table = nn.EmbeddingBag(15, 6)
tower = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = DenseAndTables(tower.parameters(), table.parameters(), lr=0.02, table_lr=0.1)
for step in range(10):
    bags, ratings = torch.randint(0, 15, (8, 3)), torch.rand(8, 1) * 4 + 1
    loss = nn.functional.mse_loss(tower(table(bags)), ratings)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f}")
