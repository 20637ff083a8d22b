# variant: R-Drop: two passes of one network with different dropout are to agree, and both are trained to.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    p, q = F.log_softmax(model(x), 1), F.log_softmax(model(x), 1)
    agree = (p.exp() * (p - q) + q.exp() * (q - p)).sum(1).mean()
    loss = F.nll_loss(p, y) + F.nll_loss(q, y) + 0.5 * agree
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
