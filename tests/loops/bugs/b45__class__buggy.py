# bug: B45
# id: input-gradient-pollutes-parameters
import torch
from torch import nn


class AdversarialTrainer:
    def __init__(self, model, eps=0.2, alpha=0.1, steps=2):
        self.model = model
        self.eps, self.alpha, self.steps = eps, alpha, steps
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()

    def pgd(self, x, y):
        delta = torch.zeros_like(x, requires_grad=True)
        for _ in range(self.steps):
            loss = self.criterion(self.model(x + delta), y)
            loss.backward()  # <-- bug
            delta.data = (delta + self.alpha * delta.grad.sign()).clamp(-self.eps, self.eps)
            delta.grad.zero_()
        return delta.detach()

    def train_batch(self, x, y):
        delta = self.pgd(x, y)
        loss = self.criterion(self.model(x + delta), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()  # <-- bug
        return loss.item()


torch.manual_seed(2)
trainer = AdversarialTrainer(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2)))
for _ in range(7):
    last = trainer.train_batch(torch.randn(9, 6), torch.randint(0, 2, (9,)))
print(last)
