# bug: B263
import copy

import torch
import torch.nn.functional as F
from torch import nn


def update_ema_variables(model, ema_model, alpha, step):
    alpha = min(1 - 1 / (step + 1), alpha)
    for ema_param, param in zip(ema_model.parameters(), model.parameters()):
        ema_param.data.mul_(alpha).add_(param.data, alpha=1 - alpha)


torch.manual_seed(0)
print_freq = 5
student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for i in range(30):
    x, noisy, y = torch.randn(8, 6), torch.randn(8, 6), torch.randint(0, 3, (8,))
    same = F.mse_loss(student(noisy).softmax(1), teacher(noisy).softmax(1))
    loss = F.cross_entropy(student(x), y) + same
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema_variables(student, teacher, 0.99, i)
    if i % print_freq == 0:
        print(f"{i} {loss.item():.4f} {same.item():.4f}")
