# variant: GradCache: the whole batch's embedding gradients replayed chunk by chunk, nothing divided
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.empty(0)


def info_nce(z: torch.Tensor) -> torch.Tensor:
    a, b = nn.functional.normalize(z, dim=1).chunk(2)
    return nn.functional.cross_entropy(a @ b.T / 0.1, torch.arange(len(a)))


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = info_nce(model(x))
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(4):
    anchors = torch.randn(8, 6, dtype=torch.float64)
    x = torch.cat([anchors, anchors + 0.1 * torch.randn_like(anchors)])
    with torch.no_grad():
        reps = torch.cat([model(chunk) for chunk in x.chunk(4)])
    reps = reps.detach().requires_grad_()
    loss = info_nce(reps)
    loss.backward()
    cache = reps.grad
    optimizer.zero_grad()
    for chunk, g in zip(x.chunk(4), cache.chunk(4)):
        surrogate = torch.dot(model(chunk).flatten(), g.flatten())
        surrogate.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
