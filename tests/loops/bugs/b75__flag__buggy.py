# bug: B75
# id: window-starts-short
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rows = TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,)))
loader = DataLoader(rows, batch_size=4)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler, accumulation_steps, max_norm = None, 4, 1.0
for epoch in range(3):
    optimizer.zero_grad()
    for index, (batch, labels) in enumerate(loader):
        loss = F.cross_entropy(model(batch), labels)
        (loss / accumulation_steps).backward()
        is_update_step = index % accumulation_steps == 0  # <-- bug
        if is_update_step:
            if scaler is None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
            optimizer.zero_grad()
