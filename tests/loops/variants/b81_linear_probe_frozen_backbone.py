# variant: linear probing: backbone.requires_grad_(False), one model object, the optimizer filters what requires grad
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Probe(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.fc = nn.Linear(12, classes)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        return self.fc(self.backbone(x))


def fit(model, loader, epochs):
    optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2)
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    return loss.item()


torch.manual_seed(1)
model = Probe(nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.1)), 3)
loader = DataLoader(TensorDataset(torch.randn(50, 6), torch.randint(0, 3, (50,))), batch_size=10)
print(f"{fit(model, loader, 3):.4f} {[n for n, p in model.named_parameters() if p.grad is not None]}")
