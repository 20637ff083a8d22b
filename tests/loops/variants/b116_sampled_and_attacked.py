# variant: a generator sampled in eval mode, a critic in eval for the generator, attacks made in eval mode
import torch
from torch import nn

torch.manual_seed(0)
g = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
d = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
of_g, of_d = torch.optim.Adam(g.parameters(), lr=1e-3), torch.optim.Adam(d.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)
for i in range(20):
    d.train()
    of_d.zero_grad()
    (bce(d(torch.randn(8, 2) + 2), ones) + bce(d(g(torch.randn(8, 4)).detach()), zeros)).backward()
    of_d.step()
    d.eval()
    with torch.no_grad():
        d(torch.randn(8, 2))
    of_g.zero_grad()
    bce(d(g(torch.randn(8, 4))), ones).backward()
    of_g.step()
    if i % 5 == 4:
        g.eval()
        with torch.no_grad():
            print(g(torch.randn(3, 4)).mean().item())
        g.train()

net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for x in torch.randn(12, 8, 6):
    y = (x[:, 0] > 0).long()
    net.eval()
    with torch.no_grad():
        clean = net(x).softmax(1)
    moved = (x + 0.01 * torch.randn_like(x)).requires_grad_()
    far = nn.functional.kl_div(net(moved).log_softmax(1), clean, reduction="batchmean")
    moved = x + 0.1 * torch.autograd.grad(far, moved)[0].sign()
    net.train()
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(moved), y).backward()
    optimizer.step()
