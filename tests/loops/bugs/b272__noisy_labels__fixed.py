# bug: B272
import torch
import torch.nn.functional as F
from torch import nn


def network():
    return nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 3))


@torch.no_grad()
def update_ema(model, ema, decay=0.9):
    for kept, new in zip(ema.parameters(), model.parameters()):
        kept.mul_(decay).add_(new, alpha=1 - decay)
    for kept, new in zip(ema.buffers(), model.buffers()):
        kept.copy_(new)


torch.manual_seed(3)
student, teacher = network(), network()
teacher.load_state_dict(student.state_dict())
teacher.requires_grad_(False)
teacher.eval()
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
for step in range(24):
    x = torch.randn(24, 6) + 1
    labels = x[:, :3].argmax(1)
    with torch.no_grad():
        guess = teacher(x).softmax(1)
    logits = student(x + 0.1 * torch.randn_like(x))
    loss = F.cross_entropy(logits, labels) + F.mse_loss(logits.softmax(1), guess)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema(student, teacher)
print(f"{loss.item():.4f}")
