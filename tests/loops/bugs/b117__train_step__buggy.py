# bug: B117
# id: optimizer-made-anew
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))


def train_step(x, y):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)  # <-- bug
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


for x in torch.randn(30, 8, 6):
    train_step(x, x[:, :1])
