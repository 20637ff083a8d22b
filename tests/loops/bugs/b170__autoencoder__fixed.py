# bug: B170
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
encoder, decoder = nn.Linear(12, 4), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 12))
critic = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_ae = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
opt_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)

for step in range(12):
    x = torch.rand(16, 12)
    decoded = decoder(encoder(x))
    real, fake = critic(x), critic(decoded)
    loss_ae = (x - decoded).abs().mean() - 0.5 * fake.mean()
    loss_critic = 0.5 * (F.relu(1 - real).mean() + F.relu(1 + fake).mean())

    opt_ae.zero_grad()
    loss_ae.backward(retain_graph=True)
    opt_critic.zero_grad()
    loss_critic.backward(inputs=list(critic.parameters()))
    opt_ae.step()
    opt_critic.step()
