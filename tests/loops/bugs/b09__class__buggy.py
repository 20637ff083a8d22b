# bug: B09
# id: tail-dropped
# window: 4
import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, model, data, window):
        self.model, self.data, self.window = model, data, window
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def run_epoch(self):
        self.optimizer.zero_grad()  # <-- bug
        pending = 0
        for x, y in self.data:
            loss = F.smooth_l1_loss(self.model(x), y)
            (loss / self.window).backward()
            pending += 1
            if pending == self.window:  # <-- bug
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
