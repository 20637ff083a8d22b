# variant: the first phase ends on used gradients, and the second one clears in front of each pass
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body, head = nn.Sequential(nn.Linear(6, 16), nn.ReLU()), nn.Linear(16, 3)
for rate in (1e-2, 1e-3):
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=rate)
    for _ in range(8):
        loss = F.cross_entropy(head(body(torch.randn(16, 6))), torch.randint(3, (16,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
