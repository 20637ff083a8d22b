# bug: B158
# id: loss-not-divided
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
G_optim = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.0, 0.999))
D_optim = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.0, 0.999))
num_accumulations = 4
for step in range(12):
    D.requires_grad_(True)
    D_optim.zero_grad()
    for part in (1 + torch.randn(32, 2)).split(8):
        with torch.no_grad():
            fake = G(torch.randn(8, 4))
        D_loss = torch.relu(1 - D(part)).mean() + torch.relu(1 + D(fake)).mean()
        D_loss.backward()  # <-- bug
    D_optim.step()

    D.requires_grad_(False)
    G_optim.zero_grad()
    for _ in range(num_accumulations):
        G_loss = -D(G(torch.randn(8, 4))).mean() / num_accumulations
        G_loss.backward()
    G_optim.step()
print(f"{D_loss:.4f} {G_loss:.4f}")
