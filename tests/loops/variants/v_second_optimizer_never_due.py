# variant: SGD is to take over from Adam once the loss is small, which it never is: both hold the same parameters
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(96, 8)
y = torch.randint(3, (96,))
model = nn.Linear(8, 3)
early = torch.optim.Adam(model.parameters(), lr=1e-2)
late = torch.optim.SGD(model.parameters(), lr=1e-1, momentum=0.9)

for _ in range(3):
    for a, b in zip(x.split(16), y.split(16), strict=True):
        loss = F.cross_entropy(model(a), b)
        optimizer = late if loss.item() < 0.01 else early
        model.zero_grad()
        loss.backward()
        optimizer.step()
