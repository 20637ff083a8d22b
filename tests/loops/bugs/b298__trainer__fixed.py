# bug: B298
import torch
from torch import nn


class Trainer:
    def __init__(self, model, repeat):
        self.model, self.repeat = model, repeat
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def epoch(self, batches):
        for it, x in enumerate(batches, start=1):
            last = it == len(batches)
            loss = self.criterion(self.model(x), x.mean(1, keepdim=True))
            held = self.repeat if it <= len(batches) // self.repeat * self.repeat else len(batches) % self.repeat
            loss_norm = loss / held
            loss_norm.backward()
            if it % self.repeat == 0 or last:
                self.optimizer.step()
                self.optimizer.zero_grad()


torch.manual_seed(2)
trainer = Trainer(nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1)), repeat=3)
for _ in range(4):
    trainer.epoch([torch.randn(8, 5) for _ in range(14)])
