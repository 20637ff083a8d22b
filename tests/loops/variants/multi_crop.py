# variant: multi-crop self-distillation: two global and four local crops, each a forward, feed one loss and one backward
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 5))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.AdamW(student.parameters(), lr=5e-3)
center = torch.zeros(5)
for step in range(8):
    x = torch.randn(8, 6)
    global_crops = [x + 0.1 * torch.randn_like(x) for _ in range(2)]
    local_crops = [x * (torch.rand_like(x) > 0.5) for _ in range(4)]
    targets = [((teacher(crop) - center) / 0.1).softmax(-1) for crop in global_crops]
    outputs = [student(crop) for crop in [*global_crops, *local_crops]]
    terms = [
        -(t * (out / 0.2).log_softmax(-1)).sum(-1).mean()
        for i, t in enumerate(targets)
        for j, out in enumerate(outputs)
        if i != j
    ]
    loss = sum(terms) / len(terms)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        center = 0.9 * center + 0.1 * torch.cat([teacher(crop) for crop in global_crops]).mean(0)
        for p, q in zip(student.parameters(), teacher.parameters()):
            q.mul_(0.99).add_(p, alpha=0.01)

print(f"{loss.item():.4f}")
