# bug: B271
# id: counter-begins-anew
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, student):
        self.student, self.teacher = student, copy.deepcopy(student).requires_grad_(False)
        self.optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)

    @torch.no_grad()
    def update_teacher(self, decay):
        for kept, new in zip(self.teacher.parameters(), self.student.parameters()):
            kept.mul_(decay).add_(new, alpha=1 - decay)

    def train_epoch(self, batches):
        self.global_step = 0  # <-- bug
        for x, y in batches:
            noisy = x + 0.1 * torch.randn_like(x)
            logits = self.student(noisy)
            with torch.no_grad():
                guess = self.teacher(x).softmax(1)
            loss = F.cross_entropy(logits, y) + F.mse_loss(logits.softmax(1), guess)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.global_step += 1
            self.update_teacher(min(1 - 1 / (self.global_step + 1), 0.99))
        return loss.item()


torch.manual_seed(4)
points = torch.randn(80, 5)
batches = list(zip(points.split(8), (points.sum(1) > 0).long().split(8)))
trainer = Trainer(nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2)))
for epoch in range(3):
    print(epoch, f"{trainer.train_epoch(batches):.4f}")
