# variant: k-fold cross-validation: model, optimizer and scheduler made anew for each fold under the same names
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(30, 6), torch.randn(30, 1)
folds = torch.randperm(30).chunk(3)
scores = []
for fold, held_out in enumerate(folds):
    train_idx = torch.cat([f for i, f in enumerate(folds) if i != fold])
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
    for epoch in range(3):
        for idx in train_idx.split(10):
            loss = nn.functional.mse_loss(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
    with torch.inference_mode():
        scores.append(nn.functional.mse_loss(model(x[held_out]), y[held_out]).item())

print(" ".join(f"{s:.3f}" for s in scores))
