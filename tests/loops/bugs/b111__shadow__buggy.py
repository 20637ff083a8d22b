# bug: B111
# id: average-factors-swapped
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ExponentialMovingAverage:
    def __init__(self, model, decay=0.995):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            new = (1.0 - self.decay) * self.shadow[name] + self.decay * p.data  # <-- bug
            self.shadow[name] = new.clone()

    def copy_to(self, model):
        for name, p in model.named_parameters():
            p.data.copy_(self.shadow[name])


torch.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 24), nn.GELU(), nn.Linear(24, 1))
ema = ExponentialMovingAverage(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
x = torch.randn(160, 6)
loader = DataLoader(TensorDataset(x, x.prod(dim=1, keepdim=True)), batch_size=16, shuffle=True)
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
        ema.update(model)
    print(f"epoch {epoch}: {loss.item():.4f}")
ema.copy_to(model)
model.eval()
with torch.no_grad():
    print(f"{nn.functional.mse_loss(model(x), x.prod(dim=1, keepdim=True)).item():.4f}")
