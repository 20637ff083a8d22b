# variant: a growing sum is kept after each pass, to see how it settles, and is then divided in its own memory
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad(set_to_none=False)
    path = []
    for x in torch.randn(4, 8, 4):
        ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
        path.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    for p in model.parameters():
        p.grad[...] = p.grad / len(path)
    optimizer.step()
    if step % 4 == 0:
        print([round((path[-1] / 4 - one / (k + 1)).norm().item(), 3) for k, one in enumerate(path)])
