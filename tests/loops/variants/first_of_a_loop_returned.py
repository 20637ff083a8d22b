# variant: loops that return in their first turn what that turn has made, or only under a condition
import torch
from torch import nn

torch.manual_seed(0)


def first_batch(loader):
    for images, labels in loader:
        images = images + 0.01
        return images, labels


def found(values, limit):
    seen = []
    for value in values:
        seen.append(value)
        if value > limit:
            return seen
    return seen


def smallest(losses):
    best = None
    for one in losses:
        if best is not None and one >= best:
            continue
        best = one
    return best


loader = [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(6)]
model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(12):
    images, labels = first_batch(loader)
    losses = [nn.functional.cross_entropy(model(images[half]), labels[half]) for half in (slice(4), slice(4, 8))]
    loss = smallest(found(losses, 5.0)) + torch.stack(losses).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
