# bug: B231
# id: gradient-not-changed
import torch
from torch import nn

# Domain generalisation: the gradients of three domains are freed of what contradicts the others, layer by layer.
torch.manual_seed(9)
backbone = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(backbone.parameters(), lr=0.05, momentum=0.9)
shifts = torch.randn(3, 5)


def domain_batch(shift):
    x = torch.randn(24, 5) + shift
    return x, x @ (torch.ones(5, 1) + 2 * shift.unsqueeze(1))


for iteration in range(18):
    per_domain = []
    for shift in shifts:
        optimizer.zero_grad()
        x, y = domain_batch(shift)
        nn.functional.smooth_l1_loss(backbone(x), y).backward()
        per_domain.append([w.grad.clone() for w in backbone.parameters()])
    optimizer.zero_grad()
    for w, *domain_grads in zip(backbone.parameters(), *per_domain):
        originals = [grad.clone() for grad in domain_grads]
        for grad in domain_grads:
            for other in originals:
                inner = (grad * other).sum()
                if inner.item() < 0:
                    grad = grad - inner / (other.square().sum() + 1e-8) * other  # <-- bug
        w.grad = sum(domain_grads) / len(domain_grads)
    optimizer.step()
