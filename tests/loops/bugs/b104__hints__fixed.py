# bug: B104
import torch
from torch import nn

torch.manual_seed(4)


class Imitation(nn.Module):
    def __init__(self, expert, pupil):
        super().__init__()
        self.expert, self.pupil = expert, pupil

    def forward(self, x):
        return self.pupil(x), self.expert(x).detach()


def loss_of(said, wanted):
    return (said - wanted).abs().mean()


expert = nn.Sequential(nn.Linear(5, 20), nn.Dropout(0.1), nn.Tanh(), nn.Linear(20, 2)).eval()
task = Imitation(expert, nn.Linear(5, 2))
optimizer = torch.optim.Adam(task.pupil.parameters(), lr=1e-2)
for _ in range(12):
    said, wanted = task(torch.randn(10, 5))
    optimizer.zero_grad()
    loss_of(said, wanted).backward()
    optimizer.step()
