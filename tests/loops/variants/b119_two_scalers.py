# variant: each of two models has a scaler, which is updated right after its own optimizer's step
import torch
from torch import nn

torch.manual_seed(1)
models = [nn.Linear(6, 2) for _ in range(2)]
optimizers = [torch.optim.SGD(model.parameters(), lr=1e-2) for model in models]
scalers = [torch.amp.GradScaler("cpu", init_scale=float(2**n), growth_interval=2) for n in (6, 10)]
for _ in range(9):
    x = torch.randn(8, 6)
    for model, optimizer, scaler in zip(models, optimizers, scalers, strict=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), x[:, :2].argmax(dim=1))
        scaler.scale(loss).backward()
    for optimizer, scaler in zip(optimizers, scalers, strict=True):
        scaler.step(optimizer)
        scaler.update()
print(f"{loss.item():.4f}")
