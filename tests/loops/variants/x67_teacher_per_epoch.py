# variant: accumulation with a teacher that moves once per epoch, between the last step and the next forward
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(48, 6), torch.randint(0, 3, (48,))), batch_size=4, shuffle=True)
student = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 3))
teacher = copy.deepcopy(student).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-2)
k = 3
for epoch in range(4):
    for i, (x, y) in enumerate(loader):
        logits = student(x)
        with torch.no_grad():
            soft = teacher(x).softmax(-1)
        loss = nn.functional.cross_entropy(logits, y) + nn.functional.cross_entropy(logits, soft)
        (loss / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.copy_(0.5 * t + 0.5 * s)

print(f"{loss.item():.4f}")
