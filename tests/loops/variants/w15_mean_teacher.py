# variant: mean teacher: an exponential average of the student, updated by hand after each step
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.detach_()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)


def update_ema_variables(model: nn.Module, ema_model: nn.Module, alpha: float, global_step: int) -> None:
    alpha = min(1 - 1 / (global_step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


for global_step in range(8):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (8,))
    student_logits = student(x + 0.1 * torch.randn_like(x))
    with torch.no_grad():
        teacher_logits = teacher(x + 0.1 * torch.randn_like(x))
    class_loss = nn.functional.cross_entropy(student_logits[:8], y)
    consistency_loss = nn.functional.mse_loss(student_logits.softmax(1), teacher_logits.softmax(1))
    loss = class_loss + 0.5 * consistency_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema_variables(student, teacher, 0.99, global_step)

print(f"{loss.item():.4f}")
