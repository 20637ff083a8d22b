# bug: B95
# id: average-trained-too
import copy

import torch
import torch.nn.functional as F
from torch import nn


class MeanTeacher(nn.Module):
    def __init__(self, dim, classes, decay=0.95):
        super().__init__()
        self.student = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, classes))
        self.teacher = copy.deepcopy(self.student)
        self.decay = decay

    def forward(self, x):
        student = self.student(x + 0.1 * torch.randn_like(x))
        teacher = self.teacher(x + 0.1 * torch.randn_like(x))  # <-- bug
        return student, teacher

    @torch.no_grad()
    def update_teacher(self):
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.mul_(self.decay).add_(s, alpha=1 - self.decay)


torch.manual_seed(0)
model = MeanTeacher(6, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)  # <-- bug
for _ in range(12):
    x, y = torch.randn(24, 6), torch.randint(3, (8,))  # a third of the batch is labelled
    student, teacher = model(x)
    loss = F.cross_entropy(student[:8], y) + 2 * F.mse_loss(student.softmax(-1), teacher.softmax(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.update_teacher()
