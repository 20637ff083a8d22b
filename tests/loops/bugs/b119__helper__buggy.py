# bug: B119
# id: scaler-updated-between-steps
import torch
from torch import nn


class Amp:
    """Steps several optimizers after one backward; the scale has not changed by the end of this short run."""

    def __init__(self, *optimizers):
        self.optimizers = optimizers
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4096.0)

    def backward_and_step(self, loss):
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        for optimizer in self.optimizers:
            self.scaler.unscale_(optimizer)
            for group in optimizer.param_groups:
                nn.utils.clip_grad_norm_(group["params"], 1.0)
            self.scaler.step(optimizer)
            self.scaler.update()  # <-- bug


torch.manual_seed(1)
table, body = nn.Embedding(12, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 12))
amp = Amp(torch.optim.Adagrad(table.parameters(), lr=0.1), torch.optim.AdamW(body.parameters(), lr=1e-3))
for _ in range(10):
    words = torch.randint(12, (16,))
    loss = nn.functional.cross_entropy(body(table(words)), (words + 1) % 12)
    amp.backward_and_step(loss)
print(f"{loss.item():.4f}")
