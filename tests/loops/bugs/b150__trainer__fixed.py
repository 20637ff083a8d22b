# bug: B150
import torch
from torch import nn


class Trainer:
    """Takes the hard labels and a teacher's answers, in parts that fit into the memory."""

    def __init__(self, student, teacher, parts=4, weight=0.3):
        self.student, self.teacher, self.parts, self.weight = student, teacher, parts, weight
        self.optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
        self.hard, self.soft = nn.CrossEntropyLoss(), nn.MSELoss()

    def step(self, x, y):
        running = 0.0
        for inputs, labels in zip(x.chunk(self.parts), y.chunk(self.parts)):
            with torch.no_grad():
                taught = self.teacher(inputs)
            said = self.student(inputs)
            loss = self.hard(said, labels) + self.weight * self.soft(said, taught)
            (loss / self.parts).backward()
            running += loss.item()
        nn.utils.clip_grad_norm_(self.student.parameters(), 100.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return running / self.parts


torch.manual_seed(3)
teacher = nn.Sequential(nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 3)).eval().requires_grad_(False)
trainer = Trainer(nn.Linear(6, 3), teacher)
for epoch in range(12):
    x = torch.randn(48, 6)
    print(epoch, trainer.step(x, x[:, :3].argmax(1)))
