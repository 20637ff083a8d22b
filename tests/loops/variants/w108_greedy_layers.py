# variant: greedy local learning: a loss and an optimizer per layer, activations detached between layers
import torch
from torch import nn

torch.manual_seed(0)
sizes = [6, 12, 12]
layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
local_heads = [nn.Linear(b, 3) for b in sizes[1:]]
optimizers = [torch.optim.Adam([*m.parameters(), *h.parameters()], lr=1e-2) for m, h in zip(layers, local_heads)]
for step in range(5):
    h, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    losses = []
    for layer, head, optimizer in zip(layers, local_heads, optimizers):
        h = torch.relu(layer(h.detach()))
        loss = nn.functional.cross_entropy(head(h), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

print(" ".join(f"{v:.4f}" for v in losses))
