# variant: adaptive gradient clipping by hand, unit-wise, once before the step
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.no_grad()
def adaptive_clip_grad(parameters, clip_factor: float = 0.01, eps: float = 1e-3) -> None:
    for p in parameters:
        if p.grad is None:
            continue
        p_norm = p.detach().flatten(1).norm(dim=1, keepdim=True) if p.dim() > 1 else p.detach().abs()
        g_norm = p.grad.flatten(1).norm(dim=1, keepdim=True) if p.dim() > 1 else p.grad.abs()
        max_norm = p_norm.clamp_(min=eps).mul_(clip_factor)
        clipped = p.grad * (max_norm / g_norm.clamp(min=1e-6))
        p.grad.copy_(torch.where(g_norm < max_norm, p.grad, clipped))


for step in range(5):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    loss = (model(x) - x[:, :1]).pow(2).mean()
    loss.backward()
    adaptive_clip_grad(model[:1].parameters())
    optimizer.step()

print(f"{loss.item():.4f}")
