# variant: validation loss averaged over four batches (/ 4) in training mode and without no_grad, once an epoch
import torch
from torch import nn

torch.manual_seed(0)
k = 4
train_set = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(16)]
val_set = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(4)]
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
best = float("inf")
for epoch in range(3):
    for i, (x, y) in enumerate(train_set):
        loss = nn.functional.mse_loss(model(x), y) / k
        loss.backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
    val_loss = 0
    for x, y in val_set:
        val_loss += nn.functional.mse_loss(model(x), y) / len(val_set)
    best = min(best, float(val_loss))

print(f"{loss.item() * k:.4f} {best:.4f}")
