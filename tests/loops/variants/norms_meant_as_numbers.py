# variant: norms taken as numbers: said by detach(), of weights, of a loss, shown, and in a penalty's weight
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
model, head = nn.Linear(6, 8), nn.Linear(8, 4, bias=False)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.05)
for step in range(8):
    x = torch.randn(12, 6)
    raw = model(x)
    shown = raw.data.norm(dim=1).mean()
    sized = raw / raw.detach().norm(dim=1, keepdim=True)
    rows = F.linear(F.normalize(raw), head.weight / head.weight.data.norm(dim=1, keepdim=True))
    loss = F.cross_entropy(10 * rows, x[:, :4].argmax(1)) + 0.1 * (sized.mean(0) ** 2).sum()
    loss = loss / loss.data.pow(2).sqrt() + 0.01 * raw.pow(2).mean() / raw.data.norm()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{shown:.3f}")
