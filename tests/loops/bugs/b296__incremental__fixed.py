# bug: B296
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(self.body(x))

    def grow(self, classes):
        old = self.fc
        self.fc = nn.Linear(16, old.out_features + classes)
        self.fc.weight.data[: old.out_features] = old.weight.data


class Learner:
    def __init__(self):
        self.model = Net(2)

    def before_task(self, task):
        if task:
            self.model.grow(2)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self, task, epochs=6):
        for epoch in range(epochs):
            if epoch == 4:
                self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)
            for _ in range(4):
                x, y = torch.randn(16, 8), torch.randint(2 * task + 2, (16,))
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.model.zero_grad()


torch.manual_seed(0)
learner = Learner()
for task in range(3):
    learner.before_task(task)
    learner.train(task)
