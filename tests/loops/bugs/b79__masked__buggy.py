# bug: B79
# id: step-every-micro-batch
import torch
from torch import nn


class ScaledStep:
    """Backward, clipping and step in one call."""

    def __init__(self):
        self.scaler = torch.amp.GradScaler("cpu")

    def __call__(self, loss, optimizer, parameters, clip=None, update=True):
        self.scaler.scale(loss).backward()
        if update:
            self.scaler.unscale_(optimizer)
            if clip is not None:
                nn.utils.clip_grad_norm_(parameters, clip)
            self.scaler.step(optimizer)  # <-- bug
            self.scaler.update()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 16), nn.GELU(), nn.Linear(16, 12))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
step_of, accumulate = ScaledStep(), 4
for index in range(32):
    patches = torch.randn(16, 12)
    mask = (torch.rand(16) < 0.75).float()
    error = (model(patches * (1 - mask[:, None])) - patches).pow(2).mean(1)
    loss = (error * mask).sum() / mask.sum()
    loss /= accumulate
    step_of(loss, optimizer, model.parameters(), clip=1.0)  # <-- bug
    if (index + 1) % accumulate == 0:
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
