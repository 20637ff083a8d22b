# variant: an optimizer for a part that is not in use yet; it is stepped when its turn comes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
extra = nn.Linear(12, 3)
main = torch.optim.SGD(model.parameters(), lr=0.1)
late = torch.optim.SGD(extra.parameters(), lr=0.1)
for step in range(12):
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    logits = model(x)
    if step >= 6:
        logits = logits + extra(model[:2](x))
    main.zero_grad()
    late.zero_grad()
    nn.functional.cross_entropy(logits, y).backward()
    main.step()
    late.step()
