# bug: B90
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher = nn.Linear(8, 4)
student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for _ in range(12):
    x, y = torch.randn(16, 8), torch.randint(4, (16,))
    hard = F.cross_entropy(student(x), y)
    with torch.no_grad():
        target = F.softmax(teacher(x) / 2, dim=-1)
    soft = F.kl_div(F.log_softmax(student(x) / 2, dim=-1), target, reduction="batchmean")
    loss = hard + 4 * soft
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
