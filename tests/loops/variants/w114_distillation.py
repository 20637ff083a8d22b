# variant: knowledge distillation from a teacher in eval mode under no_grad
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3)).eval()
student = nn.Linear(6, 3)
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-2)
T = 2.0
for step in range(6):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    with torch.no_grad():
        t_logits = teacher(x)
    s_logits = student(x)
    soft = F.kl_div(F.log_softmax(s_logits / T, 1), F.softmax(t_logits / T, 1), reduction="batchmean") * T * T
    loss = 0.7 * soft + 0.3 * F.cross_entropy(s_logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
