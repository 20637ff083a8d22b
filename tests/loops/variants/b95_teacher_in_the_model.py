# variant: the teacher is a part of the model, and the optimizer gets the rest: it is filtered out by name
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Dino(nn.Module):
    def __init__(self, dim=8, out=12):
        super().__init__()
        self.student = nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, out))
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.register_buffer("center", torch.zeros(out))

    def forward(self, views):
        with torch.no_grad():
            targets = [((self.teacher(v) - self.center) / 0.1).softmax(-1) for v in views[:2]]
            self.center.lerp_(torch.cat(targets).mean(0), 0.1)
        logits = [self.student(v) / 0.2 for v in views]
        pairs = [(t, s) for i, t in enumerate(targets) for j, s in enumerate(logits) if i != j]
        return sum(F.cross_entropy(s, t) for t, s in pairs) / len(pairs)

    @torch.no_grad()
    def follow(self, momentum):
        for s, t in zip(self.student.parameters(), self.teacher.parameters()):
            t.data.mul_(momentum).add_((1 - momentum) * s.detach().data)


torch.manual_seed(0)
model = Dino()
optimizer = torch.optim.AdamW([p for n, p in model.named_parameters() if not n.startswith("teacher")], lr=1e-3)
for it in range(10):
    x = torch.randn(16, 8)
    loss = model([x + 0.1 * torch.randn_like(x) for _ in range(3)])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.follow(0.9 + 0.01 * it)

print(f"{loss.item():.4f}")
