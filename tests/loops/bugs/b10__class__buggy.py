# bug: B10
# id: tail-leaks-into-next-epoch
# window: 4
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, loader, accumulate_grad_batches=4):
        self.model = model
        self.loader = loader
        self.k = accumulate_grad_batches
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def train_epoch(self):
        for i, (x, y) in enumerate(self.loader):
            loss = F.binary_cross_entropy_with_logits(self.model(x).squeeze(1), y)
            (loss / self.k).backward()
            if (i + 1) % self.k == 0:  # <-- bug
                self.optimizer.step()
                self.optimizer.zero_grad()


torch.manual_seed(17)
dataset = TensorDataset(torch.randn(30, 5), torch.randint(0, 2, (30,)).float())
trainer = Trainer(nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 1)), DataLoader(dataset, batch_size=3))
for epoch in range(4):
    trainer.train_epoch()
