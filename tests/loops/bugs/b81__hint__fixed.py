# bug: B81
import torch
import torch.nn.functional as F
from torch import nn, optim


def net(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 3))


def taught(x, y):
    model = net(32)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model


torch.manual_seed(0)
x = torch.randn(64, 8)
y = x[:, :3].argmax(1)
teacher, student, widen = taught(x, y), net(12), nn.Linear(12, 32)
everything, trained = nn.ModuleList([student, widen]), nn.ModuleList([student, widen])
optimizer = optim.SGD(trained.parameters(), lr=0.05)
everything.append(teacher)
for epoch in range(12):
    for module in everything:
        module.train()
    everything[-1].eval()
    for a, b in zip(x.split(16), y.split(16)):
        with torch.no_grad():
            hint = teacher[0](a)
        guess = student[0](a)
        loss = F.cross_entropy(student(a), b) + F.mse_loss(widen(guess), hint)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, round(loss.item(), 3))
