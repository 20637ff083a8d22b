# bug: B65
# id: non-finite-gradient-stepped
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, accum=2, max_grad_norm=1.0):
        self.model = model
        self.accum = accum
        self.max_grad_norm = max_grad_norm
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        self.norms = []

    def training_step(self, images, labels):
        loss = self.criterion(self.model(images), labels)
        (loss / self.accum).backward()  # <-- bug
        return loss.item()

    def optimizer_step(self):
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_grad_norm)
        self.norms.append(norm.item())
        self.optimizer.step()  # <-- bug
        self.optimizer.zero_grad()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for i, (images, labels) in enumerate(loader):
                total += self.training_step(images, labels)
                if (i + 1) % self.accum == 0:
                    self.optimizer_step()
            print(f"epoch {epoch}: loss {total / len(loader):.4f}, largest norm {max(self.norms):.3f}")


torch.manual_seed(3)
images = torch.randn(60, 1, 6, 6)
images[44, 0, 2, 3] = float("inf")  # a dead pixel, divided by its own zero spread
dataset = TensorDataset(images, torch.randint(0, 3, (60,)))
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
Trainer(net).fit(DataLoader(dataset, batch_size=5), epochs=2)
