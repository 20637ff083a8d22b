# variant: Grokfast: an exponential mean of the gradients over the steps, added to .grad before every step
import torch
from torch import nn


def gradfilter_ema(model: nn.Module, grads: dict | None, alpha: float = 0.98, lamb: float = 2.0) -> dict:
    if grads is None:
        grads = {n: p.grad.data.detach() for n, p in model.named_parameters() if p.requires_grad}
    for n, p in model.named_parameters():
        if p.requires_grad:
            grads[n] = grads[n] * alpha + p.grad.data.detach() * (1 - alpha)
            p.grad.data = p.grad.data + grads[n] * lamb
    return grads


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(11, 8), nn.Flatten(), nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 11))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
grads = None
for step in range(9):
    for _ in range(2):
        pairs = torch.randint(0, 11, (12, 2))
        loss = nn.functional.cross_entropy(model(pairs), pairs.sum(1) % 11) / 2
        loss.backward()
    grads = gradfilter_ema(model, grads)
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item() * 2:.4f}")
