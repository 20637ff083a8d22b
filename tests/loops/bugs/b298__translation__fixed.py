# bug: B298
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4
torch.manual_seed(0)
data = TensorDataset(torch.randn(84, 6), torch.randint(3, (84,)))
loader = DataLoader(data, batch_size=6, shuffle=True)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    optimizer.zero_grad()
    for step, (x, y) in enumerate(loader):
        window = min(ACCUMULATE, len(loader) - step // ACCUMULATE * ACCUMULATE)
        loss = criterion(model(x), y) / window
        loss.backward()
        if (step + 1) % ACCUMULATE == 0 or step + 1 == len(loader):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
