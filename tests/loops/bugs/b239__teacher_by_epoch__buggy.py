# bug: B239
# id: schedule-on-another-clock
import copy

import torch
import torch.nn.functional as F
from torch import nn


def follow(teacher, student, decay, global_step):
    decay = min(1 - 1 / (global_step + 1), decay)
    with torch.no_grad():
        for kept, new in zip(teacher.parameters(), student.parameters()):
            kept.mul_(decay).add_(new, alpha=1 - decay)


def train(epoch, student, teacher, optimizer, batches, done):
    for x, y in batches:
        with torch.no_grad():
            wanted = teacher(x + 0.05 * torch.randn_like(x)).softmax(-1)
        given = student(x)
        loss = F.cross_entropy(given, y) + F.mse_loss(given.softmax(-1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += 1
        follow(teacher, student, 0.99, epoch)  # <-- bug
    return done


torch.manual_seed(4)
student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
x = torch.randn(120, 6)
batches = [(x[at : at + 12], x[at : at + 12, :3].argmax(1)) for at in range(0, 120, 12)]
done = 0
for epoch in range(3):
    done = train(epoch, student, teacher, optimizer, batches, done)
    print(done, f"{F.cross_entropy(teacher(x), x[:, :3].argmax(1)).item():.4f}")
