# bug: B155
import torch
from torch import nn


class Trainer:
    """Decays the weights by itself: matrices alone, and not through the gradient."""

    def __init__(self, model, lr=0.05, decay=1e-2):
        self.model, self.decay = model, decay
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()

    @torch.no_grad()
    def shrink(self):
        for name, p in self.model.named_parameters():
            if name.endswith("weight"):
                p.mul_(1 - self.decay)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.shrink()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 3)))
for step in range(20):
    x = torch.randn(16, 8)
    trainer.step(x, x[:, :3].argmax(1))
