# variant: learning-rate range test, then model and optimizer put back and the real training
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
initial = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())


def train_batch() -> float:
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    loss = (model(x) - x[:, :1]).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


history = []
finder = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=2.0)
for _ in range(8):
    history.append((train_batch(), finder.get_last_lr()[0]))
    finder.step()
model.load_state_dict(initial[0])
optimizer.load_state_dict(initial[1])
for group in optimizer.param_groups:
    group["lr"] = min(history)[1] / 10
final = [train_batch() for _ in range(4)][-1]

print(f"{final:.4f}")
