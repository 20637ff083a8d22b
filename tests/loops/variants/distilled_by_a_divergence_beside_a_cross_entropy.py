# variant: a divergence summed over many classes beside a cross entropy, which is no mean over them
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(8, 100), nn.Linear(8, 100).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(12):
    x, y = torch.randn(16, 8), torch.randint(100, (16,))
    with torch.no_grad():
        wanted = F.softmax(teacher(x) / 2, dim=1)
    logits = student(x)
    soft = F.kl_div(F.log_softmax(logits / 2, dim=1), wanted, reduction="batchmean") * 4
    brier = (F.softmax(logits, dim=1) - wanted).square().sum(1).mean()
    loss = F.cross_entropy(logits, y) + soft + brier
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
