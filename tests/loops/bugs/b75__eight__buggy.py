# bug: B75
# id: window-starts-short
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = TensorDataset(torch.randn(320, 6), torch.randint(0, 2, (320,)))
loader = DataLoader(data, batch_size=2, shuffle=True)
accumulation_steps = 8

for epoch in range(2):
    for batch_idx, (inputs, targets) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss /= accumulation_steps
        loss.backward()
        if batch_idx % accumulation_steps == 0:  # <-- bug
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())
