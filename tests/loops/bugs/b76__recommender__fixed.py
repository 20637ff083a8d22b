# bug: B76
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Factorization(nn.Module):
    def __init__(self, users, items, dim=6):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.tower = nn.Sequential(nn.Linear(2 * dim, 12), nn.ReLU(), nn.Linear(12, 1))

    def forward(self, pairs):
        both = torch.cat([self.user(pairs[:, 0]), self.item(pairs[:, 1])], 1)
        return self.tower(both).squeeze(1)


class DenseAndTables(torch.optim.SGD):
    """SGD with momentum for the dense layers, and Adagrad for the embedding tables, in one step()."""

    def __init__(self, model, lr, table_lr):
        tables = [m.weight for m in model.modules() if isinstance(m, nn.Embedding)]
        known = {id(t) for t in tables}
        super().__init__([p for p in model.parameters() if id(p) not in known], lr=lr, momentum=0.9)
        self.tables = torch.optim.Adagrad(tables, lr=table_lr)

    def step(self, closure=None):
        loss = super().step(closure)
        self.tables.step()
        return loss


def train(model, loader, epochs):
    optimizer = DenseAndTables(model, lr=0.02, table_lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    criterion = nn.MSELoss()
    for _ in range(epochs):
        for pairs, ratings in loader:
            loss = criterion(model(pairs), ratings)
            loss.backward()
            optimizer.step()
            model.zero_grad()
        scheduler.step()
    return loss.item()


torch.manual_seed(8)
pairs = torch.stack([torch.randint(0, 12, (50,)), torch.randint(0, 9, (50,))], 1)
loader = DataLoader(TensorDataset(pairs, torch.rand(50) * 4 + 1), batch_size=10, shuffle=True)
print(f"{train(Factorization(12, 9), loader, epochs=3):.4f}")
