# bug: B60
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_one_epoch(model, loader, optimizer, grad_clip=1.0):
    skipped = 0
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
        if not torch.isfinite(grad_norm):
            skipped += 1
            optimizer.zero_grad()
            continue
        optimizer.step()
        optimizer.zero_grad()
    print(f"{skipped} updates skipped: gradient norm not finite")


torch.manual_seed(0)
x = torch.randn(40, 6)
x[22] *= 1e30  # a corrupt row: its squared error overflows float32
dataset = TensorDataset(x, torch.randn(40, 1))
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
train_one_epoch(net, DataLoader(dataset, batch_size=5), torch.optim.Adam(net.parameters(), lr=1e-2))
