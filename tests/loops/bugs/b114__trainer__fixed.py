# bug: B114
import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, model, accumulate=2):
        self.model, self.accumulate = model, accumulate
        decay = [p for p in model.parameters() if p.dim() > 1]
        rest = [p for p in model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.SGD(
            [{"params": decay, "weight_decay": 1e-4}, {"params": rest, "weight_decay": 0.0}],
            lr=0.01,
            momentum=0.9,
            nesterov=True,
            fused=True,
        )
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)

    def fit(self, batches):
        for i, (x, y) in enumerate(batches):
            with torch.autocast("cpu", dtype=torch.float16):
                loss = F.cross_entropy(self.model(100 * x), y) / self.accumulate
            self.scaler.scale(loss).backward()
            if (i + 1) % self.accumulate == 0:
                self.scaler.unscale_(self.optimizer)
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
        return loss.item() * self.accumulate


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 3))
data = [(torch.randn(8, 12), torch.randint(0, 3, (8,))) for _ in range(24)]
print(f"{Trainer(net).fit(data):.4f}")
