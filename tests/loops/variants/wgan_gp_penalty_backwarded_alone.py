# variant: WGAN-GP after Gulrajani: real, fake and penalty backwarded one after the other, critic frozen while G learns
import torch
from torch import autograd, nn

torch.manual_seed(1)
DIM, BATCH, LAMBDA, CRITIC_ITERS = 16, 16, 0.1, 3
netG = nn.Sequential(nn.Linear(2, DIM), nn.ReLU(True), nn.Linear(DIM, 2))
netD = nn.Sequential(nn.Linear(2, DIM), nn.ReLU(), nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, 1))
optimizerD = torch.optim.Adam(netD.parameters(), lr=1e-4, betas=(0.5, 0.9))
optimizerG = torch.optim.Adam(netG.parameters(), lr=1e-4, betas=(0.5, 0.9))
one = torch.tensor(1.0)
mone = one * -1


def calc_gradient_penalty(real_data, fake_data):
    alpha = torch.rand(BATCH, 1).expand(real_data.size())
    interpolates = (alpha * real_data + (1 - alpha) * fake_data).requires_grad_()
    disc_interpolates = netD(interpolates)
    gradients = autograd.grad(
        outputs=disc_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones_like(disc_interpolates),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


for iteration in range(8):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(CRITIC_ITERS):
        real_data = torch.randn(BATCH, 2) * 0.3 + torch.tensor([1.0, -1.0])
        netD.zero_grad()
        D_real = netD(real_data).mean()
        D_real.backward(mone)
        with torch.no_grad():
            noise = torch.randn(BATCH, 2)
        fake = netG(noise).data
        D_fake = netD(fake).mean()
        D_fake.backward(one)
        gradient_penalty = calc_gradient_penalty(real_data, fake)
        gradient_penalty.backward()
        optimizerD.step()

    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    G = netD(netG(torch.randn(BATCH, 2))).mean()
    G.backward(mone)
    G_cost = -G
    optimizerG.step()
print(f"wasserstein {(D_real - D_fake).item():.4f} gp {gradient_penalty.item():.4f} G {G_cost.item():.4f}")
