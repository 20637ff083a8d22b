# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""DCGAN: real and fake go through D as separate batches on purpose (ganhacks no. 4)."""
G = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 6))
D = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, od = (torch.optim.Adam(n.parameters(), 2e-4, betas=(0.5, 0.999)) for n in (G, D))
bce = nn.BCEWithLogitsLoss()
for it in range(8):
    real = torch.randn(16, 6) + 1
    fake = G(torch.randn(16, 4))
    od.zero_grad()
    for x, label in ((real, 1.0), (fake.detach(), 0.0)):
        out = D(x)
        bce(out, torch.full_like(out, label)).backward()
    od.step()
    og.zero_grad()
    out = D(fake)
    bce(out, torch.ones_like(out)).backward()
    og.step()
print(out.mean().item())
