# variant: WGAN-GP: gradient penalty by autograd.grad with create_graph, several critic steps per generator step
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
lambda_gp, n_critic = 10.0, 3


def gradient_penalty(real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
    alpha = torch.rand(real.size(0), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    (gradients,) = torch.autograd.grad(scores, mixed, torch.ones_like(scores), create_graph=True, retain_graph=True)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


for iteration in range(9):
    real = torch.randn(16, 2) + 2
    opt_c.zero_grad()
    fake = generator(torch.randn(16, 4)).detach()
    loss_c = critic(fake).mean() - critic(real).mean() + lambda_gp * gradient_penalty(real, fake)
    loss_c.backward()
    opt_c.step()
    if iteration % n_critic == 0:
        opt_g.zero_grad()
        loss_g = -critic(generator(torch.randn(16, 4))).mean()
        loss_g.backward()
        opt_g.step()

print(f"critic {loss_c.item():.4f} generator {loss_g.item():.4f}")
