# variant: diffusion: now and then samples from the averaged copy in train mode, gradients on, a forward per step
import copy

import torch
from torch import nn

torch.manual_seed(0)
T = 8
betas = torch.linspace(1e-2, 0.3, T)
alphas_bar = torch.cumprod(1 - betas, 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 8)
        self.net = nn.Sequential(nn.Linear(2 + 8, 24), nn.SiLU(), nn.Dropout(0.1), nn.Linear(24, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


model = Denoiser()
ema = copy.deepcopy(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)


def sample(net, n):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        eps = net(x, torch.full((n,), i))
        x = (x - betas[i] / (1 - alphas_bar[i]).sqrt() * eps) / (1 - betas[i]).sqrt()
        if i:
            x = x + betas[i].sqrt() * torch.randn_like(x)
    return x


for step in range(12):
    x0 = torch.randn(16, 2) * 0.3 + torch.tensor([1.0, -1.0])
    t = torch.randint(0, T, (16,))
    noise = torch.randn_like(x0)
    a = alphas_bar[t].unsqueeze(1)
    loss = nn.functional.mse_loss(model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p_ema, p in zip(ema.parameters(), model.parameters()):
        p_ema.data.lerp_(p.data, 0.1)
    if (step + 1) % 4 == 0:
        print(step, f"{loss.item():.4f}", [round(v, 3) for v in sample(ema, 4).mean(0).tolist()])
