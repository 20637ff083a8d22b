# bug: B226
"""A student imitates a teacher; the criterion weighs each row by how sure the teacher is of it."""

import torch
import torch.nn.functional as F
from torch import nn


class Imitation(nn.Module):
    def __init__(self, share, temperature):
        super().__init__()
        self.share, self.temperature = share, temperature

    def forward(self, student, teacher, labels):
        hard = F.cross_entropy(student, labels, reduction="none")
        teacher = teacher.detach()
        said = F.log_softmax(student / self.temperature, 1)
        soft = F.kl_div(said, F.softmax(teacher / self.temperature, 1), reduction="none")
        weights = F.softmax(teacher, 1).amax(1)
        loss = (1 - self.share) * hard + self.share * soft.sum(1) * weights
        return loss.mean()


torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3)).eval()
student = nn.Linear(5, 3)
criterion = Imitation(0.7, 2.0)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-2)
for _ in range(15):
    inputs = torch.randn(24, 5)
    with torch.no_grad():
        wanted = teacher(inputs)
    loss = criterion(student(inputs), wanted, wanted.argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
