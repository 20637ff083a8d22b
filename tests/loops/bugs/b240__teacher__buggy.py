# bug: B240
# id: parameter-not-changed
import torch
from torch import nn


class MeanTeacher:
    def __init__(self, build, decay=0.9):
        self.student, self.teacher = build(), build()
        self.teacher.load_state_dict(self.student.state_dict())
        self.teacher.requires_grad_(False)
        self.decay = decay

    def update_teacher(self):
        averaged = self.teacher.state_dict()
        for name, value in self.student.state_dict().items():
            averaged[name] = self.decay * averaged[name] + (1 - self.decay) * value  # <-- bug
        return averaged


def train(pair, images, labels, unlabelled, steps):
    optimizer = torch.optim.SGD(pair.student.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        noisy = unlabelled + 0.1 * torch.randn_like(unlabelled)
        agreed = nn.functional.mse_loss(pair.student(noisy).softmax(1), pair.teacher(unlabelled).softmax(1))
        loss = nn.functional.cross_entropy(pair.student(images), labels) + agreed
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pair.update_teacher()
    return loss.item()


torch.manual_seed(9)
images = torch.randn(24, 1, 4, 4)
pair = MeanTeacher(lambda: nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 3)))
print(f"{train(pair, images, torch.randint(0, 3, (24,)), torch.randn(48, 1, 4, 4), 20):.4f}")
