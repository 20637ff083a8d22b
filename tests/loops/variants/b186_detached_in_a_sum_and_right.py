# variant: summands without a graph on purpose: straight through, taken off again, trained already, constants of data
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net, scale = nn.Linear(6, 3), torch.tensor(0.5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randn(16, 6)
    y = x[:, :3].argmax(1)
    out = net(x)
    soft, hard = F.cross_entropy(out, y), (out.argmax(1) != y).float().mean()
    through = soft + (hard - soft).detach()
    spread = out.pow(2).mean()
    kept = through + 0.1 * spread - 0.1 * spread.detach()
    counts = torch.bincount(y, minlength=3) / len(y)
    loss = kept + 0.01 * counts.max().item() + scale.item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    first = F.cross_entropy(net(x), y)
    penalty = 0.01 * net.weight.pow(2).sum()
    optimizer.zero_grad()
    penalty.backward()
    total = first + penalty.detach()
    total.backward()
    optimizer.step()
print(total.item())
