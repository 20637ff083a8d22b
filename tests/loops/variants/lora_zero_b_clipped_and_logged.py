# variant: LoRA whose B starts at zero: A's gradient is exactly zero at the first step, is logged and clipped
import math

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class LoRA(nn.Module):
    def __init__(self, base, r=4, alpha=8.0):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        self.base.bias.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T) @ self.B.T


torch.manual_seed(0)
model = nn.Sequential(LoRA(nn.Linear(8, 16)), nn.ReLU(), LoRA(nn.Linear(16, 4)))
trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
optimizer = torch.optim.AdamW(trainable.values(), lr=1e-2)
history = []

for step in range(10):
    x, y = torch.randn(8, 8), torch.randint(0, 4, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    history.append({name: p.grad.norm().item() for name, p in trainable.items()})
    total = clip_grad_norm_(trainable.values(), 1.0)
    optimizer.step()

print("first", {k: round(v, 4) for k, v in history[0].items()})
print("last", {k: round(v, 4) for k, v in history[-1].items()}, f"{loss.item():.4f} {total.item():.3f}")
