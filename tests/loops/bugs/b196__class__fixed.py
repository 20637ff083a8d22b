# bug: B196
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


class MeanTeacher:
    def __init__(self, net, momentum):
        self.net, self.momentum = net, momentum
        self.teacher = copy.deepcopy(net).requires_grad_(False)

    @torch.no_grad()
    def update_teacher(self, a, b):
        for one, other in zip(a.parameters(), b.parameters()):
            one.data.lerp_(other.data, 1 - self.momentum)

    def loss(self, x, y):
        logits = self.net(x)
        with torch.no_grad():
            soft = self.teacher(x).softmax(-1)
        return nn.functional.cross_entropy(logits, y) + nn.functional.cross_entropy(logits, soft)


mean = MeanTeacher(student, 0.95)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for _ in range(20):
    loss = mean.loss(torch.randn(16, 6), torch.randint(3, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mean.update_teacher(mean.teacher, mean.net)
