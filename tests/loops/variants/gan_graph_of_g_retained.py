# variant: GAN without detach: D's backward retains the graph and reaches G, which is cleared before its own backward
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
D = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt, d_opt = torch.optim.Adam(G.parameters(), lr=2e-3), torch.optim.Adam(D.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(12, 1), torch.zeros(12, 1)
for step in range(9):
    real = torch.randn(12, 3) + 1
    fake = G(torch.randn(12, 5))
    d_opt.zero_grad()
    d_loss = criterion(D(real), ones) + criterion(D(fake), zeros)
    d_loss.backward(retain_graph=True)
    d_opt.step()

    g_opt.zero_grad()
    g_loss = criterion(D(fake), ones)
    g_loss.backward()
    g_opt.step()

print(f"d {d_loss.item():.4f} g {g_loss.item():.4f}")
