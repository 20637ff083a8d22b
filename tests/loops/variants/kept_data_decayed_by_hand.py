# variant: the weights are kept by .data, and decayed, clamped and moved back by hand through that
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
weights = [p.data for p in model.parameters()]
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(20):
    x = torch.randn(8, 5)
    loss = (model(x) - x.sum(dim=1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    before = [w.clone() for w in weights]
    optimizer.step()
    for w, old in zip(weights, before, strict=True):
        w.mul_(0.999)
        w.add_(w, alpha=-1e-4)
        w.clamp_(-1.0, 1.0)
        if step % 5 == 4:
            w.mul_(0.5).add_(old, alpha=0.5)
print(loss.item())
