# bug: B229
import torch
from torch import nn

torch.manual_seed(11)
n_critic, clip_value = 3, 0.02

generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer_G = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
optimizer_D = torch.optim.RMSprop(critic.parameters(), lr=5e-4)

for i in range(24):
    real = torch.randn(32, 2) * 0.3 + torch.tensor([1.0, -1.0])
    fake = generator(torch.randn(32, 4)).detach()

    optimizer_D.zero_grad()
    loss_D = critic(fake).mean() - critic(real).mean()
    loss_D.backward()
    optimizer_D.step()

    # Clip weights of the critic
    weights = critic.state_dict()
    for name in weights:
        weights[name] = weights[name].clamp(-clip_value, clip_value)
    critic.load_state_dict(weights)

    if (i + 1) % n_critic == 0:
        optimizer_G.zero_grad()
        loss_G = -critic(generator(torch.randn(32, 4))).mean()
        loss_G.backward()
        optimizer_G.step()
        print(f"[{i}] D {loss_D.item():.4f} G {loss_G.item():.4f}")
