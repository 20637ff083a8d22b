# bug: B142
import torch
from torch import nn


class Trainer:
    def __init__(self, model, optimizer, ignore=-100):
        self.model, self.optimizer = model, optimizer
        self.criterion = nn.CrossEntropyLoss(ignore_index=ignore, reduction="sum")

    def step(self, micro_batches):
        self.optimizer.zero_grad()
        total, answers = 0.0, sum(int((labels >= 0).sum()) for _, labels in micro_batches)
        for inputs, labels in micro_batches:
            loss = self.criterion(self.model(inputs), labels) / answers
            loss.backward()
            total += loss.item()
        self.optimizer.step()
        return total


def micro_batch(answers):
    inputs = torch.randn(24, 8)
    labels = inputs[:, :5].argmax(1)
    labels[answers:] = -100
    return inputs, labels


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))
trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1))
for _ in range(12):
    trainer.step([micro_batch(n) for n in torch.randint(1, 25, (3,)).tolist()])
