# variant: SimSiam: forward returns detached projections of the encoder that is trained, it learns through the predictor
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SimSiam(nn.Module):
    def __init__(self, dim=6, hidden=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, 8))
        self.predictor = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))

    def forward(self, x1, x2):
        z1, z2 = self.encoder(x1), self.encoder(x2)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        return p1, p2, z1.detach(), z2.detach()


def pretrain(model, loader, epochs):
    criterion = nn.CosineSimilarity(dim=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for epoch in range(epochs):
        for (x,) in loader:
            p1, p2, z1, z2 = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
            loss = -(criterion(p1, z2).mean() + criterion(p2, z1).mean()) * 0.5
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


torch.manual_seed(2)
print(f"{pretrain(SimSiam(), DataLoader(TensorDataset(torch.randn(64, 6)), batch_size=16, shuffle=True), 3):.4f}")
