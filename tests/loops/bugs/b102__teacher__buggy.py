# bug: B102
# id: average-shares-memory
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(1)
student = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Dropout(0.2), nn.Linear(12, 4))
teacher = {}
for name, parameter in student.named_parameters():
    teacher[name] = parameter.detach()  # <-- bug
optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)

for step in range(16):
    x = torch.randn(12, 6)
    with torch.no_grad():
        target = functional_call(student, teacher, (x,)).softmax(dim=-1)
    loss = (student(x + 0.1 * torch.randn_like(x)).softmax(dim=-1) - target).pow(2).sum(dim=-1).mean()
    loss = loss + nn.functional.cross_entropy(student(x), x[:, :4].argmax(dim=-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, theirs in zip(teacher.values(), student.parameters(), strict=True):
            mine.lerp_(theirs, 0.02)
