# variant: the first view is to predict the second, which is detached; the second is trained by another comparison
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
predictor = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05)
for x in torch.randn(8, 16, 8):
    now, later = encoder(x), encoder(x.roll(1, 1))
    forward = F.mse_loss(predictor(now), later.detach())
    smooth = F.mse_loss(now, later)
    optimizer.zero_grad()
    (forward + 0.1 * smooth).backward()
    optimizer.step()
