# variant: both sides of a comparison are meant to learn: centers, a coarse and a fine network, a teacher that learns
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def net(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs))


# features and centers near each other, by squares and by absolute values
body, head, centers = net(8, 4), nn.Linear(4, 3), nn.Embedding(3, 4)
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters(), *centers.parameters()], lr=1e-3)
for _ in range(5):
    x = torch.randn(32, 8)
    y = x[:, :3].argmax(1)
    features, center = body(x), centers(y)
    loss = F.cross_entropy(head(features), y)
    loss = loss + 0.1 * (features - center).pow(2).mean() + 0.05 * (features - center).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# completion from coarse to fine: the coarse one is to agree with what is known, completed by the fine one
coarse, fine = net(16, 8), net(16, 8)
optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()], lr=1e-3)
for _ in range(5):
    x = torch.randn(32, 8).cumsum(1)
    mask = (torch.rand(32, 8) < 0.3).float()
    known = x * (1 - mask)
    first = coarse(torch.cat([known, mask], 1))
    second = fine(torch.cat([first, mask], 1))
    completed = known + mask * second
    loss = F.l1_loss(second, x) + F.l1_loss(first, x) + 0.1 * F.mse_loss(first, completed)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# teacher and student learn together, each from the labels; the losses go backward one by one
teacher, student = net(6, 3), nn.Linear(6, 3)
optimizer = torch.optim.Adam([*teacher.parameters(), *student.parameters()], lr=1e-3)
for _ in range(5):
    x = torch.randn(32, 6)
    y = x[:, :3].argmax(1)
    by_teacher, by_student = teacher(x), student(x)
    optimizer.zero_grad()
    F.cross_entropy(by_teacher, y).backward(retain_graph=True)
    F.cross_entropy(by_student, y).backward(retain_graph=True)
    (0.1 * F.mse_loss(by_student, by_teacher)).backward()
    optimizer.step()
