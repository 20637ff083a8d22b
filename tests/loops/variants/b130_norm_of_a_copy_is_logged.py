# variant: the norm of an average's gradients is asked for, without a limit, by a log of all models
import torch
from torch import nn

torch.manual_seed(1)
models = {"live": nn.Linear(5, 2), "average": nn.Linear(5, 2).requires_grad_(False)}
models["average"].load_state_dict(models["live"].state_dict())
optimizer = torch.optim.Adam(models["live"].parameters(), lr=1e-2)
for x in torch.randn(6, 8, 5):
    optimizer.zero_grad()
    (models["live"](x) - x[:, :2]).pow(2).mean().backward()
    norms = {name: float(nn.utils.clip_grad_norm_(m.parameters(), float("inf"))) for name, m in models.items()}
    optimizer.step()
    with torch.no_grad():
        for mine, theirs in zip(models["average"].parameters(), models["live"].parameters()):
            mine.lerp_(theirs, 0.1)
