# bug: B61
import torch
import torch.nn.functional as F
from torch import nn


def build():
    model = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))
    return model, torch.optim.SGD(model.parameters(), lr=0.05)


torch.manual_seed(0)
folds = [[(torch.randn(6, 6), torch.randint(0, 3, (6,))) for _ in range(6)] for _ in range(2)]
model, optimizer = build()

for k, fold in enumerate(folds):
    fold_model, fold_optimizer = build()
    for x, y in fold:
        fold_optimizer.zero_grad()
        loss = F.cross_entropy(fold_model(x), y)
        loss.backward()
        fold_optimizer.step()
    print(f"fold {k}: {loss.item():.3f}")
