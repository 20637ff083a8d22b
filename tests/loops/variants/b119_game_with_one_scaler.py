# variant: two losses, each with a backward, a step and an update of its own; the scale grows in between
import torch
from torch import nn

torch.manual_seed(0)
maker, judge = nn.Linear(4, 6), nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
make = torch.optim.Adam(maker.parameters(), lr=1e-3)
judging = torch.optim.Adam(judge.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=3)
for _ in range(12):
    fake = maker(torch.randn(8, 4))
    judging.zero_grad()
    loss = judge(fake.detach()).mean() - judge(torch.randn(8, 6)).mean()
    scaler.scale(loss).backward()
    scaler.step(judging)
    scaler.update()
    make.zero_grad()
    loss = -judge(fake).mean()
    scaler.scale(loss).backward()
    scaler.step(make)
    scaler.update()
print(f"{loss.item():.4f}")
