# bug: B77
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class OneClassTrainer:
    """Deep SVDD with a moving centre: embeddings of normal samples are pulled towards their running mean."""

    def __init__(self, encoder, dim, momentum=0.9):
        self.encoder, self.momentum = encoder, momentum
        self.center = torch.zeros(dim)
        self.optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)

    def step(self, x):
        z = self.encoder(x)
        self.center = self.momentum * self.center + (1 - self.momentum) * z.detach().mean(0)
        pull = (z - self.center).pow(2).sum(1).mean()
        spread = torch.relu(1 - z.std(0)).mean()
        loss = pull + spread
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(2)
loader = DataLoader(TensorDataset(torch.randn(60, 8)), batch_size=6, shuffle=True)
trainer = OneClassTrainer(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), dim=4)
for (x,) in loader:
    loss = trainer.step(x)
print(f"{loss:.4f}")
