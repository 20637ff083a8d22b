# bug: B74
# id: micro-batches-without-backward
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
D = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer_G = torch.optim.Adam(G.parameters(), lr=1e-3)
optimizer_D = torch.optim.Adam(D.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
acc_size, count, D_loss = 3, 0, 0
for epoch in range(2):
    for (real,) in DataLoader(TensorDataset(torch.randn(72, 6)), batch_size=4):
        fake = G(torch.randn(4, 4)).detach()
        there, here = D(real), D(fake)
        D_loss = criterion(there, torch.ones(4, 1)) + criterion(here, torch.zeros(4, 1))  # <-- bug
        count += 1
        if count == acc_size:
            optimizer_D.zero_grad()
            D_loss /= acc_size
            D_loss.backward()
            optimizer_D.step()
            G_loss = criterion(D(G(torch.randn(4, 4))), torch.ones(4, 1))
            optimizer_G.zero_grad()
            G_loss.backward()
            optimizer_G.step()
            count, D_loss = 0, 0
