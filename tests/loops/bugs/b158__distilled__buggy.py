# bug: B158
# id: loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn

ALPHA, ACCUMULATION = 0.3, 4


def distil(student, teacher, optimizer, batches):
    for i, (x, y) in enumerate(batches, start=1):
        said = student(x)
        with torch.no_grad():
            wanted = teacher(x).softmax(1)
        hard = F.cross_entropy(said, y)
        soft = F.kl_div(said.log_softmax(1), wanted, reduction="batchmean")
        loss = (1 - ALPHA) * hard + ALPHA * soft
        loss.backward()  # <-- bug
        if i % ACCUMULATION == 0:
            optimizer.step()
            optimizer.zero_grad()


torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :3].argmax(1)
student, teacher = (nn.Sequential(nn.Linear(8, n), nn.ReLU(), nn.Linear(n, 3)) for n in (8, 32))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
distil(student, teacher.eval(), optimizer, list(zip(x.split(16), y.split(16), strict=True)))
