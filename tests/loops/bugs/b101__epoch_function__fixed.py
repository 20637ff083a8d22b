# bug: B101
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_decay(warmup, total):
    def decay(epoch):
        if epoch < warmup:
            return (epoch + 1) / warmup
        return max(0.0, 1.0 - (epoch - warmup) / (total - warmup))

    return decay


torch.manual_seed(0)
epochs = 6
loader = DataLoader(TensorDataset(torch.randn(40, 5), torch.randn(40, 1)), batch_size=8)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, make_decay(2, epochs))
for epoch in range(epochs):
    for rows, wanted in loader:
        optimizer.zero_grad()
        F.mse_loss(model(rows), wanted).backward()
        optimizer.step()
    scheduler.step()
