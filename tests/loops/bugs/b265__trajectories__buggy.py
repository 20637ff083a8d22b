# bug: B265
# id: sum-beside-means
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MotionTrainer:
    """Paths from noisy ones, held to be smooth."""

    def __init__(self, points, lr=5e-3):
        self.net = nn.Sequential(nn.Linear(points, 32), nn.Tanh(), nn.Linear(32, points))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def smoothness(self, path):
        velocity = path[:, 1:] - path[:, :-1]
        return torch.sum(velocity**2)  # <-- bug

    def train_step(self, noisy, path):
        out = self.net(noisy)
        loss = torch.mean((out - path) ** 2) + 0.1 * self.smoothness(out)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(1)
paths = torch.cumsum(torch.randn(80, 10) * 0.3, dim=1)
loader = DataLoader(TensorDataset(paths + 0.1 * torch.randn(80, 10), paths), batch_size=16, shuffle=True)
trainer = MotionTrainer(10)
for epoch in range(3):
    for noisy, path in loader:
        last = trainer.train_step(noisy, path)
    print(epoch, f"{last:.4f}")
