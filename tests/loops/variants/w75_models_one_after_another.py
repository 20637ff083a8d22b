# variant: several models trained one after another in one function, the earlier ones thrown away
import torch
from torch import nn


def fit(width: int, lr: float) -> float:
    model = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 1))
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    for _ in range(4):
        x = torch.randn(8, 6)
        loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
scores = {(width, lr): fit(width, lr) for width in (8, 8, 16) for lr in (1e-2, 1e-3)}
print(min(scores, key=scores.get))
