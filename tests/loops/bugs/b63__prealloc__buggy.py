# bug: B63
# id: aliased-gradients
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
width = 12
layers = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(3)])
head = nn.Linear(width, 2)
optimizer = torch.optim.SGD([*layers.parameters(), *head.parameters()], lr=0.1)

# gradients allocated once, and only zeroed after that
buffer = torch.zeros(width, width)
for layer in layers:
    layer.weight.grad = buffer  # <-- bug

for _ in range(8):
    x, y = torch.randn(8, width), torch.randn(8, 2)
    h = x
    for layer in layers:
        h = torch.tanh(layer(h))
    loss = F.mse_loss(head(h), y)
    loss.backward()  # <-- bug
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
print(loss.item())
