# bug: B68
import torch
from torch import nn


def train(model, head, optimizer, parts):
    main, smooth, weight = 0.0, 0.0, 0.0
    for x, y in parts:
        hidden = torch.tanh(model(x))
        main += nn.functional.cross_entropy(head(hidden), y)
        smooth += (hidden[1:] - hidden[:-1]).square().mean()
        weight += hidden.abs().mean()
    main = main / len(parts)
    smooth = smooth / len(parts)
    weight = weight / len(parts)
    loss = main + smooth * 0.05 + weight * 0.01
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


torch.manual_seed(0)
model, head = nn.Linear(6, 12), nn.Linear(12, 3)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.05)
for _ in range(10):
    parts = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(5)]
    print(f"{train(model, head, optimizer, parts):.4f}")
