# bug: B80
# id: loss-not-scaled
# raises: AssertionError
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, lr=1e-3, amp=True, max_norm=1.0):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler("cpu", enabled=amp)
        self.amp, self.max_norm = amp, max_norm

    def training_step(self, x, y):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.amp):
            loss = nn.functional.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # <-- bug
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()

    def fit(self, loader, epochs):
        for _ in range(epochs):
            losses = [self.training_step(x, y) for x, y in loader]
        return sum(losses) / len(losses)


torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4))
data = TensorDataset(torch.randn(40, 6), torch.randint(0, 4, (40,)))
print(f"{Trainer(net).fit(DataLoader(data, batch_size=8), epochs=2):.4f}")
