# variant: torch.compile in its default mode, gradients accumulated over four micro-batches, clipped once per window
import torch
from torch import nn


class Trainer:
    def __init__(self, model, accumulate=4):
        self.raw = model
        self.model = torch.compile(model, mode="default")
        self.accumulate = accumulate
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.1, 1.0, 4)

    def fit(self, batches):
        for i, (x, y) in enumerate(batches):
            loss = nn.functional.cross_entropy(self.model(x), y)
            (loss / self.accumulate).backward()
            print(f"{i} {loss.item():.10f}")
            if (i + 1) % self.accumulate == 0:
                nn.utils.clip_grad_norm_(self.raw.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.scheduler.step()


torch.manual_seed(3)
torch.set_num_threads(1)
net = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(40, 16), nn.ReLU(), nn.Linear(16, 3))
Trainer(net).fit([(torch.randint(0, 20, (8, 5)), torch.randint(0, 3, (8,))) for _ in range(32)])
