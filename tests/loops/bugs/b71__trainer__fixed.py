# bug: B71
import io

import torch
from torch import nn


class Trainer:
    def __init__(self, batches, accumulate=4):
        self.model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        self.criterion = nn.CrossEntropyLoss()
        self.batches, self.accumulate = batches, accumulate
        self.micro_step = 0

    def save(self, file):
        state = {"model": self.model.state_dict(), "optim": self.optimizer.state_dict(), "step": self.micro_step}
        torch.save(state, file)

    def load(self, file):
        file.seek(0)
        state = torch.load(file)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optim"])
        self.micro_step = state["step"]

    def fit(self, file, time_limit=None):
        while self.micro_step < len(self.batches):
            x, y = self.batches[self.micro_step]
            loss = self.criterion(self.model(x), y)
            (loss / self.accumulate).backward()
            self.micro_step += 1
            window_done = self.micro_step % self.accumulate == 0
            if window_done:
                self.optimizer.step()
                self.optimizer.zero_grad()
            if time_limit is not None and self.micro_step >= time_limit and window_done:
                self.save(file)
                return None
        return loss.item()


torch.manual_seed(4)
batches = [(torch.randn(4, 2, 8), torch.randint(0, 3, (4,))) for _ in range(48)]
file = io.BytesIO()
Trainer(batches).fit(file, time_limit=10)

trainer = Trainer(batches)
trainer.load(file)
print(f"{trainer.fit(file):.4f}")
