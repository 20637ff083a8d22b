# variant: the head steps and is cleared on every batch, the trunk accumulates four and is cleared under the if
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoSpeedTrainer:
    def __init__(self, trunk, head, every=4):
        self.trunk, self.head, self.every = trunk, head, every
        self.fast = torch.optim.SGD(head.parameters(), lr=0.05)
        self.slow = torch.optim.Adam(trunk.parameters(), lr=1e-3)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for i, (x, y) in enumerate(loader):
                loss = nn.functional.cross_entropy(self.head(self.trunk(x)), y)
                loss.backward()
                self.fast.step()
                self.fast.zero_grad()
                if (i + 1) % self.every == 0:
                    for p in self.trunk.parameters():
                        p.grad /= self.every
                    self.slow.step()
                    self.slow.zero_grad()
        return loss.item()


torch.manual_seed(2)
trainer = TwoSpeedTrainer(nn.Sequential(nn.Linear(7, 14), nn.ReLU()), nn.Linear(14, 3))
loader = DataLoader(TensorDataset(torch.randn(64, 7), torch.randint(0, 3, (64,))), batch_size=4)
print(f"{trainer.fit(loader, 2):.4f}")
