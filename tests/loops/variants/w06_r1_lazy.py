# variant: R1 penalty every fourth step, in a backward and step of its own (StyleGAN2)
import torch
from torch import nn
from torch.nn.functional import softplus

torch.manual_seed(0)
d = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 1))
g = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 2))
d_optim = torch.optim.Adam(d.parameters(), lr=1e-3, betas=(0.0, 0.99))
g_optim = torch.optim.Adam(g.parameters(), lr=1e-3, betas=(0.0, 0.99))

for i in range(8):
    real = torch.randn(8, 2)
    d_loss = softplus(d(g(torch.randn(8, 4)).detach())).mean() + softplus(-d(real)).mean()
    d.zero_grad()
    d_loss.backward()
    d_optim.step()

    if i % 4 == 0:
        real.requires_grad = True
        real_pred = d(real)
        (grad_real,) = torch.autograd.grad(outputs=real_pred.sum(), inputs=real, create_graph=True)
        r1 = grad_real.pow(2).sum(1).mean()
        d.zero_grad()
        (10 / 2 * r1 * 4 + 0 * real_pred[0, 0]).backward()
        d_optim.step()

    g_loss = softplus(-d(g(torch.randn(8, 4)))).mean()
    g.zero_grad()
    g_loss.backward()
    g_optim.step()

print(f"{d_loss.item():.4f} {g_loss.item():.4f} {r1.item():.4f}")
