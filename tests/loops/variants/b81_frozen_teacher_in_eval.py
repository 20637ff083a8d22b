# variant: distillation: teacher in eval() with requires_grad off, no no_grad around it; only the student is stepped
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 4))
teacher.eval()
for p in teacher.parameters():
    p.requires_grad = False
student = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
temperature = 2.0
for step in range(12):
    x, y = torch.randn(12, 8), torch.randint(0, 4, (12,))
    soft = F.kl_div(
        F.log_softmax(student(x) / temperature, 1), F.softmax(teacher(x) / temperature, 1), reduction="batchmean"
    )
    loss = 0.7 * temperature**2 * soft + 0.3 * F.cross_entropy(student(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
