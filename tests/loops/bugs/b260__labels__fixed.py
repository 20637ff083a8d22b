# bug: B260
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import nn


class ModelEMA:
    def __init__(self, model, decay):
        self.module = deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update_parameters(self, model):
        for old, new in zip(self.module.parameters(), model.parameters()):
            old.copy_(self.decay * old + (1.0 - self.decay) * new)


def train(teacher, student, average, t_optimizer, s_optimizer):
    for _ in range(20):
        known, labels, unknown = torch.randn(8, 6), torch.randint(0, 3, (8,)), torch.randn(16, 6)
        guessed = teacher(unknown).detach().argmax(-1)
        s_loss = F.cross_entropy(student(unknown), guessed)
        s_optimizer.zero_grad()
        s_loss.backward()
        s_optimizer.step()
        average.update_parameters(student)
        t_loss = F.cross_entropy(teacher(known), labels)
        t_optimizer.zero_grad()
        t_loss.backward()
        t_optimizer.step()


torch.manual_seed(0)
teacher, student = (nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)) for _ in range(2))
average = ModelEMA(student, 0.95)
t_optimizer = torch.optim.SGD(teacher.parameters(), lr=0.05)
s_optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
train(teacher, student, average, t_optimizer, s_optimizer)
