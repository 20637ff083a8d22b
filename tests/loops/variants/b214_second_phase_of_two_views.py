# variant: after a first phase in train mode the same lines go on in eval mode, on purpose; each step calls the model
# at two lines, and nothing is evaluated in between
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def phase(steps):
    for _ in range(steps):
        x = torch.randn(16, 6)
        one = model(x)
        other = model(x + 0.1 * torch.randn_like(x))
        loss = F.mse_loss(one, other) + (one.std(0) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


phase(10)
model.eval()
phase(10)
