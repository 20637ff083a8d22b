# bug: B37
# id: batchnorm-per-micro-batch
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.bn = nn.BatchNorm1d(16)  # <-- bug
        self.fc2 = nn.Linear(16, 2)

    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(x))))  # <-- bug


class Trainer:
    def __init__(self, model, loader, accumulate):
        self.model, self.loader, self.accumulate = model, loader, accumulate
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def epoch(self):
        self.model.train()  # <-- bug
        for step, (x, y) in enumerate(self.loader, start=1):
            loss = nn.functional.cross_entropy(self.model(x), y)
            torch.autograd.backward(loss / self.accumulate)
            if step % self.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()


torch.manual_seed(5)
dataset = TensorDataset(2 * torch.randn(48, 8) + 1, torch.randint(0, 2, (48,)))
trainer = Trainer(Net(), DataLoader(dataset, batch_size=4, shuffle=True), accumulate=2)
for _ in range(2):
    trainer.epoch()
