# variant: the generator's rate is moved by two schedules of one class, the discriminator's and the encoder's by none
import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR

torch.manual_seed(0)
encoder, generator, critic = nn.Linear(8, 6), nn.Linear(6, 8), nn.Linear(8, 1)
optim_e = torch.optim.Adam(encoder.parameters(), lr=1e-3)
optim_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optim_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
each_epoch = ExponentialLR(optim_g, 0.9)
each_batch = ExponentialLR(optim_g, 0.999)
data = torch.randn(40, 8)
for epoch in range(5):
    for real in data.split(10):
        fake = generator(encoder(real))
        optim_d.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        optim_d.step()
        optim_e.zero_grad()
        optim_g.zero_grad()
        (nn.functional.mse_loss(fake, real) - 0.1 * critic(fake).mean()).backward()
        optim_e.step()
        optim_g.step()
        each_batch.step()
    each_epoch.step()
