# bug: B238
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher, student = nn.Linear(6, 3), nn.Linear(6, 3)
t_optimizer = torch.optim.SGD(teacher.parameters(), lr=0.1)
s_optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
t_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(t_optimizer, 24)
s_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(s_optimizer, 24)
for step in range(24):
    x = torch.randn(16, 6)
    loss = F.cross_entropy(teacher(x), x[:, :3].argmax(dim=1))
    t_optimizer.zero_grad()
    loss.backward()
    t_optimizer.step()
    t_scheduler.step()
    s_loss = F.cross_entropy(student(x), teacher(x).detach().argmax(dim=1))
    s_optimizer.zero_grad()
    s_loss.backward()
    s_optimizer.step()
    s_scheduler.step()
print(f"{loss:.4f} {s_loss:.4f}")
