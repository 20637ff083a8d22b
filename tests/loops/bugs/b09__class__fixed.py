# bug: B09
# window: 4
import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, model, data, window):
        self.model, self.data, self.window = model, data, window
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def run_epoch(self):
        self.optimizer.zero_grad()
        pending = 0
        for left, (x, y) in zip(range(len(self.data), 0, -1), self.data):
            size = min(self.window, pending + left)
            loss = F.smooth_l1_loss(self.model(x), y)
            (loss / size).backward()
            pending += 1
            if pending == size:
                self.optimizer.step()
                self.optimizer.zero_grad()
                pending = 0


torch.manual_seed(30)
trainer = Trainer(
    nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)),
    [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(11)],
    window=4,
)
for _ in range(4):
    trainer.run_epoch()
