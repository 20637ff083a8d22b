# bug: B11
# id: tail-divided-by-full-window
# severity: info
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
x = torch.randn(88, 8)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=4, shuffle=True)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
accumulate = 4
for epoch in range(3):
    for index, (inputs, labels) in enumerate(loader):
        ends = (index + 1) % accumulate == 0 or index + 1 == len(loader)
        loss = nn.functional.cross_entropy(net(inputs), labels)
        loss /= accumulate  # <-- bug
        loss.backward()  # <-- bug
        if ends:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
