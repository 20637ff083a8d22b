# variant: GAN where each network's leftover gradients are cleared just before its own backward (nothing is detached)
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
g_optimizer = torch.optim.Adam(G.parameters(), lr=2e-4)
d_optimizer = torch.optim.Adam(D.parameters(), lr=2e-4)
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)

for step in range(5):
    # D's loss also reaches G here, and G's loss reaches D below. Both are thrown away before they are used.
    real = torch.randn(16, 2)
    d_loss = criterion(D(real), ones) + criterion(D(G(torch.randn(16, 4))), zeros)
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()

    g_loss = criterion(D(G(torch.randn(16, 4))), ones)
    d_optimizer.zero_grad()
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()

print(f"d {d_loss.item():.4f} g {g_loss.item():.4f}")
