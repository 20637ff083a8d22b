# variant: a remainder that is not 0 decides for one optimizer, and that it is 0 for another, or for nothing but a log
import torch
from torch import nn

torch.manual_seed(0)
critic, generator = nn.Linear(4, 1), nn.Linear(2, 4)
critic_opt = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
generator_opt = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
for step in range(60):
    noise = torch.randn(8, 2)
    if step % 5 != 0:
        critic_opt.zero_grad()
        loss = critic(generator(noise).detach()).mean() - critic(torch.randn(8, 4)).mean()
        loss.backward()
        critic_opt.step()
    else:
        generator_opt.zero_grad()
        for p in critic.parameters():
            p.requires_grad_(False)
        (-critic(generator(noise)).mean()).backward()
        generator_opt.step()
        for p in critic.parameters():
            p.requires_grad_(True)

model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(48):
    x = torch.randn(8, 4)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long()) / 4
    loss.backward()
    if step % 12 == 0:
        print(loss.item())
    if (step + 1) % 4:
        continue
    opt.step()
    opt.zero_grad()
