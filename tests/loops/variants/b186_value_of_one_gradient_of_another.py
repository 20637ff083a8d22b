# variant: a loss whose value is that of one term and whose gradient is that of another
import torch
import torch.nn.functional as F
from torch import nn


def surrogate(model, x, y):
    out = model(x)
    true = (out.argmax(1) != y).float().mean()
    smooth = F.cross_entropy(out, y)
    return smooth + float(true) - smooth.item()


class Student:
    def __init__(self):
        self.net, self.other = nn.Linear(6, 3), nn.Linear(6, 3)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.second = torch.optim.SGD(self.other.parameters(), lr=0.05)

    def learn(self, x, y):
        self.aux = F.cross_entropy(self.other(x), y)
        self.second.zero_grad()
        self.aux.backward()
        self.second.step()
        self.main = surrogate(self.net, x, y)
        self.loss = self.main + self.aux.item()
        self.optimizer.zero_grad()
        self.loss.backward()
        self.optimizer.step()


torch.manual_seed(0)
student = Student()
for _ in range(10):
    x = torch.randn(16, 6)
    student.learn(x, x[:, :3].argmax(1))
print(student.loss.item())
