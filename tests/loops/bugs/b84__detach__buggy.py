# bug: B84
# id: graph-cut
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, debug=False):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)
        self.debug, self.stats = debug, []

    def forward(self, x):
        h = self.features(x)
        h = h.detach()  # <-- bug
        if self.debug:
            self.stats.append((h.mean().item(), h.std().item()))
        return self.head(h)


def fit(model, loader, epochs=2):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(48, 8), torch.randint(0, 3, (48,))), batch_size=8)
print(f"{fit(Classifier(), loader):.4f}")
