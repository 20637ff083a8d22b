# variant: the teacher is trained first, by the same script, and a second one is put into eval mode by its owner
import torch
import torch.nn.functional as F
from torch import nn


class Student(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.teacher = teacher
        self.net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            wanted = self.teacher(x).softmax(1)
        out = self.net(x)
        return out, F.kl_div(out.log_softmax(1), wanted, reduction="batchmean")


torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
x, y = torch.randn(64, 6), torch.randint(3, (64,))
optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-3)
for _ in range(12):
    optimizer.zero_grad()
    F.cross_entropy(teacher(x), y).backward()
    optimizer.step()
student = Student(teacher)
student.train()
optimizer = torch.optim.Adam(student.net.parameters(), lr=1e-3)
for _ in range(12):
    out, distance = student(x)
    loss = F.cross_entropy(out, y) + distance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
