# bug: B130
import torch
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def clip(parameters, limit):
    nn.utils.clip_grad_norm_(parameters, limit)


for x in torch.randn(8, 16, 5):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), 5 * x[:, :2]).backward()
    clip(model.parameters(), 0.01)
    optimizer.step()
