# variant: a whole block is pruned: zeros, which a mask on the gradients keeps after each backward
import torch
from torch import nn

torch.manual_seed(0)
block = nn.Sequential(nn.Linear(6, 6, bias=False), nn.ReLU(), nn.Linear(6, 6))
front, head = nn.Linear(4, 6), nn.Linear(6, 2)
masks = {layer: torch.zeros_like(layer.weight) for layer in (block[0], block[2])}
for layer, mask in masks.items():
    layer.weight.data.mul_(mask)
parameters = [*front.parameters(), *block.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
for step in range(30):
    x = torch.randn(8, 4)
    hidden = front(x)
    loss = nn.functional.cross_entropy(head(hidden + block(hidden)), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    for layer, mask in masks.items():
        layer.weight.grad.mul_(mask)
    optimizer.step()
print(loss.item())
