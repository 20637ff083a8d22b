# variant: a batch whose unscaled norm is far too large is not stepped on: update() runs, scaler.step does not
import torch
from torch import nn


class RobustTrainer:
    def __init__(self, model, limit):
        self.model, self.limit, self.skipped = model, limit, 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=512.0)

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = torch.stack([p.grad.norm() for p in self.model.parameters()]).norm()
        if norm < self.limit:
            self.scaler.step(self.optimizer)
        else:
            self.skipped += 1
        self.scaler.update()
        return loss.item()


torch.manual_seed(1)
trainer = RobustTrainer(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)), limit=20.0)
for i in range(20):
    x = torch.randn(8, 6)
    y = x.sum(1, keepdim=True) * (100.0 if i % 7 == 3 else 1.0)
    loss = trainer.step(x, y)
print(f"{loss:.4f} skipped {trainer.skipped}")
