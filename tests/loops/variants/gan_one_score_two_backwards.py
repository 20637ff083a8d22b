# variant: GAN with one score of the fakes for both: G's and D's gradients by autograd.grad before either steps
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
D = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_params, d_params = list(G.parameters()), list(D.parameters())
g_opt, d_opt = torch.optim.Adam(g_params, lr=2e-3), torch.optim.Adam(d_params, lr=2e-3)
for step in range(9):
    score = D(G(torch.randn(12, 5)))
    real_score = D(torch.randn(12, 3) + 1)
    d_loss = nn.functional.softplus(-real_score).mean() + nn.functional.softplus(score).mean()
    g_loss = nn.functional.softplus(-score).mean()
    d_grads = torch.autograd.grad(d_loss, d_params, retain_graph=True)
    g_grads = torch.autograd.grad(g_loss, g_params)
    for p, g in zip([*d_params, *g_params], [*d_grads, *g_grads]):
        p.grad = g
    d_opt.step()
    g_opt.step()

print(f"d {d_loss.item():.4f} g {g_loss.item():.4f}")
