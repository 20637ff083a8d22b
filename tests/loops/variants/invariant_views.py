# variant: Both views are predicted from each other, none detached: a term on their spread keeps them from collapsing.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
encoder, predictor = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 8)), nn.Linear(8, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *predictor.parameters()], lr=1e-2)
for x in torch.randn(12, 20, 10):
    one, other = encoder(x + 0.1 * torch.randn_like(x)), encoder(x + 0.1 * torch.randn_like(x))
    loss = F.mse_loss(predictor(one), other) + F.mse_loss(predictor(other), one)
    loss = loss + torch.relu(1 - one.std(0)).mean() + torch.relu(1 - other.std(0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
