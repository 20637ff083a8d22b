# bug: B104
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
x, y = torch.randn(64, 6), torch.randint(0, 3, (64,))
teacher = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

warm_up = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for _ in range(10):
    warm_up.zero_grad()
    F.cross_entropy(teacher(x), y).backward()
    warm_up.step()

both = nn.ModuleDict({"teacher": teacher, "student": student})
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
for rows in torch.randperm(64).split(16) * 3:
    with torch.no_grad():
        soft = F.softmax(both["teacher"](x[rows]) / 2, dim=1)
    said = both["student"](x[rows])
    loss = F.cross_entropy(said, y[rows]) + 4 * F.kl_div(F.log_softmax(said / 2, dim=1), soft, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
