# bug: B269
# id: average-begins-elsewhere
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 20), nn.Linear(20, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


@torch.no_grad()
def update_ema(model, ema, decay):
    for param, ema_param in zip(model.parameters(), ema.parameters()):
        ema_param.mul_(decay).add_(param, alpha=1 - decay)  # <-- bug


torch.manual_seed(5)
student, teacher = Net(), Net()
for param in teacher.parameters():
    param.requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
for step in range(24):
    x, unlabeled = torch.randn(16, 6), torch.randn(16, 6)
    labels = x[:, :3].argmax(1)
    guess = teacher(unlabeled).softmax(1)
    consistency = F.mse_loss(student(unlabeled + 0.1 * torch.randn_like(unlabeled)).softmax(1), guess)
    loss = F.cross_entropy(student(x), labels) + consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema(student, teacher, 0.99)
