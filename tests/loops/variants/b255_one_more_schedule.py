# variant: two schedules of one class share the work on the generator, one by the batch and one by the epoch
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(0)
generator, critic = nn.Linear(6, 8), nn.Linear(8, 1)
optim_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optim_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
slow = StepLR(optim_g, 2, gamma=0.5)
quick = StepLR(optim_g, 5, gamma=0.95)
data = torch.randn(40, 8)
for epoch in range(5):
    for real in data.split(10):
        fake = generator(torch.randn(10, 6))
        optim_d.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        optim_d.step()
        optim_g.zero_grad()
        (-critic(fake).mean()).backward()
        optim_g.step()
        quick.step()
    slow.step()
