# bug: B101
# id: schedule-on-another-clock
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
epochs, accumulate = 4, 3
x = torch.randn(96, 6)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=8)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(  # <-- bug
    optimizer,
    max_lr=1e-2,
    epochs=epochs,
    steps_per_epoch=len(loader),  # <-- bug
)

for _ in range(epochs):
    for i, (inputs, labels) in enumerate(loader, 1):
        (F.cross_entropy(model(inputs), labels) / accumulate).backward()
        if i % accumulate == 0:
            optimizer.step()
            scheduler.step()  # <-- bug
            optimizer.zero_grad()
