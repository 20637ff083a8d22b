# bug: B244
import itertools

import torch
import torch.nn.functional as F
from torch import nn


class Discriminator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body, self.post = nn.Linear(8, width), nn.Linear(width, 1)

    def forward(self, real, fake):
        maps = [F.leaky_relu(self.body(one), 0.1) for one in (real, fake)]
        return self.post(maps[0]), self.post(maps[1]), maps[0], maps[1]


def feature_loss(real, fake):
    return 2 * F.l1_loss(fake, real)


def generator_loss(out):
    loss = torch.mean((1 - out) ** 2)
    return loss, [loss.item()]


torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 8))
mpd, msd = Discriminator(16), Discriminator(24)
optim_g = torch.optim.AdamW(generator.parameters(), 2e-3, betas=(0.8, 0.99))
optim_d = torch.optim.AdamW(itertools.chain(msd.parameters(), mpd.parameters()), 2e-3, betas=(0.8, 0.99))
for step in range(16):
    x = torch.randn(16, 6)
    y = torch.tanh(torch.cat([x, x[:, :2]], dim=1))
    y_g_hat = generator(x)
    y_mel, y_g_hat_mel = y.abs(), y_g_hat.abs()

    optim_d.zero_grad()
    f_r, f_g, _, _ = mpd(y, y_g_hat.detach())
    s_r, s_g, _, _ = msd(y, y_g_hat.detach())
    loss_disc = sum(torch.mean((1 - r) ** 2) + torch.mean(g**2) for r, g in ((f_r, f_g), (s_r, s_g)))
    loss_disc.backward()
    optim_d.step()

    optim_g.zero_grad()
    loss_mel = F.l1_loss(y_mel, y_g_hat_mel) * 45
    f_r, f_g, fmap_f_r, fmap_f_g = mpd(y, y_g_hat)
    s_r, s_g, fmap_s_r, fmap_s_g = msd(y, y_g_hat)
    loss_fm_f = feature_loss(fmap_f_r, fmap_f_g)
    loss_fm_s = feature_loss(fmap_s_r, fmap_s_g)
    loss_gen_f, losses_f = generator_loss(f_g)
    loss_gen_s, losses_s = generator_loss(s_g)
    loss_gen_all = loss_gen_s + loss_gen_f + loss_fm_s + loss_fm_f + loss_mel
    loss_gen_all.backward()
    optim_g.step()
print(f"{loss_disc:.4f} {loss_gen_all:.4f}")
