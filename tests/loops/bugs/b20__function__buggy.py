# bug: B20
# id: scheduler-after-skipped-step
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 2


def train(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader) // ACCUM)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for i, (x, y) in enumerate(loader):
            with torch.autocast(device_type="cpu", dtype=torch.float16):
                loss = criterion(model(x), y) / ACCUM
            scaler.scale(loss).backward()
            if (i + 1) % ACCUM:
                continue
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scheduler.step()  # <-- bug
    return loss.item()


torch.manual_seed(2)
x = torch.randn(48, 7)
x[9] = x[30] = 3e5  # outliers beyond float16
loader = DataLoader(TensorDataset(x, torch.randint(0, 3, (48,))), batch_size=4)
print(train(nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 3)), loader, epochs=2))
