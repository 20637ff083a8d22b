# bug: B227
import torch
from torch import nn

# Denoising score matching in two dimensions; samples are drawn with the averaged weights.
torch.manual_seed(7)
score = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 2))
params = list(score.parameters())
averages = [p.detach().clone() for p in params]
optimizer = torch.optim.AdamW(params, lr=2e-3, weight_decay=0.01)
d = 0.95

for it in range(30):
    x = torch.randn(64, 2) * torch.tensor([1.0, 0.2])
    sigma = torch.rand(64, 1) + 0.05
    noise = torch.randn_like(x)
    out = score(torch.cat([x + sigma * noise, sigma.log()], dim=1))
    loss = (out + noise).square().sum(dim=1).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    with torch.no_grad():
        for avg, p in zip(averages, params):
            avg.sub_((1 - d) * (avg - p))

with torch.no_grad():
    for p, avg in zip(params, averages):
        p.copy_(avg)
    sample = torch.randn(16, 2)
    for level in torch.linspace(1.0, 0.05, 10):
        step = score(torch.cat([sample, level.log().expand(16, 1)], dim=1))
        sample = sample + 0.1 * level * step
print(sample.std(0).tolist())
