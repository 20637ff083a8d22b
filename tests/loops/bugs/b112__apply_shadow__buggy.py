# bug: B112
# id: average-not-swapped-back
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EMA:
    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.shadow, self.backup = {}, {}

    def register(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = param.data.clone()

    def update(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.shadow[name] = ((1.0 - self.decay) * param.data + self.decay * self.shadow[name]).clone()

    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                self.backup[name] = param.data
                param.data = self.shadow[name]

    def restore(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad:
                param.data = self.backup[name]
        self.backup = {}


def evaluate(model, ema, loader):
    ema.apply_shadow()
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += nn.functional.cross_entropy(model(x), y, reduction="sum").item()
    model.train()
    return total / len(loader.dataset)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
ema = EMA(model, 0.95)
ema.register()
x = torch.randn(192, 8)
data = TensorDataset(x, x[:, :4].argmax(dim=1))
loader = DataLoader(data, batch_size=16, shuffle=True)
for epoch in range(4):
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update()
    held_out = evaluate(model, ema, DataLoader(data, batch_size=64))  # <-- bug
    print(f"{epoch}: {loss.item():.4f} {held_out:.4f}")
