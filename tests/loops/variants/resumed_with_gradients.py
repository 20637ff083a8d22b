# variant: saved in the middle of a window with the gradients, which are put back into .grad on resuming
import io

import torch
from torch import nn


class Trainer:
    def __init__(self, batches: list[tuple[torch.Tensor, torch.Tensor]], accumulate: int = 4) -> None:
        self.model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.batches, self.accumulate, self.micro_step = batches, accumulate, 0

    def save(self, file: io.BytesIO) -> None:
        grads = {n: p.grad for n, p in self.model.named_parameters() if p.grad is not None}
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "grads": grads}
        torch.save({**state, "micro_step": self.micro_step}, file)

    def load(self, file: io.BytesIO) -> None:
        file.seek(0)
        state = torch.load(file)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.micro_step = state["micro_step"]
        for name, p in self.model.named_parameters():
            p.grad = state["grads"].get(name)

    def fit(self, stop: int) -> float:
        while self.micro_step < stop:
            x, y = self.batches[self.micro_step]
            loss = nn.functional.mse_loss(self.model(x), y)
            (loss / self.accumulate).backward()
            self.micro_step += 1
            if self.micro_step % self.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
        return loss.item()


torch.manual_seed(0)
batches = [(torch.randn(4, 6), torch.randn(4, 2)) for _ in range(40)]
first = Trainer(batches)
first.fit(stop=6)
file = io.BytesIO()
first.save(file)
trainer = Trainer(batches)
trainer.load(file)
print(f"{trainer.fit(stop=len(batches)):.4f}")
