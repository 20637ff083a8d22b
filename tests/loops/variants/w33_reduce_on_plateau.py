# variant: ReduceLROnPlateau fed with the validation loss once per epoch
import torch
from torch import nn

torch.manual_seed(0)
x, y, xv, yv = torch.randn(24, 6), torch.randn(24, 1), torch.randn(8, 6), torch.randn(8, 1)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.1, patience=0)
for epoch in range(5):
    model.train()
    for xb, yb in zip(x.split(8), y.split(8)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = nn.functional.mse_loss(model(xv), yv)
    scheduler.step(val_loss)

print(f"{val_loss.item():.4f} lr {optimizer.param_groups[0]['lr']:.4g}")
