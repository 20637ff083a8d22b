# bug: B238
import torch
import torch.nn.functional as F
from torch import nn


class WarmupMultiStep(torch.optim.lr_scheduler.LRScheduler):
    def __init__(self, optimizer, milestones, warmup=4, gamma=0.1):
        self.milestones, self.warmup, self.gamma = milestones, warmup, gamma
        super().__init__(optimizer)

    def get_lr(self):
        factor = min(1.0, (self.last_epoch + 1) / self.warmup)
        factor *= self.gamma ** sum(self.last_epoch >= one for one in self.milestones)
        return [factor * base for base in self.base_lrs]


torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = WarmupMultiStep(optimizer, (16,))
for step in range(24):
    x = torch.randn(16, 6)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
print(f"{loss:.4f} {optimizer.param_groups[0]['lr']:.2e}")
