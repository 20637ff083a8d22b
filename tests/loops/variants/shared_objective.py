# variant: A game with one objective for both sides: the term that the other side alone can move is a constant here.
import torch
from torch import nn

torch.manual_seed(7)
judge, maker = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)), nn.Linear(4, 2)
climb = torch.optim.RMSprop(judge.parameters(), lr=1e-3)
fall = torch.optim.RMSprop(maker.parameters(), lr=1e-3)


def objective(real, noise):
    return judge(real).mean() - judge(maker(noise)).mean()


for turn in range(16):
    real, noise = torch.randn(24, 2) + 2, torch.randn(24, 4)
    gap = judge(real).mean() + (1 - judge(maker(noise).detach())).mean()
    climb.zero_grad()
    (-gap).backward()
    climb.step()
    if turn % 2:
        loss = objective(real, noise) + judge(real).mean() * 0.1
        fall.zero_grad()
        loss.backward()
        fall.step()
