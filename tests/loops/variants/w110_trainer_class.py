# variant: a Trainer class with callbacks and a counter of its own, the tail closed by the size of its window
# window: 4
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class TrainerState:
    global_step: int = 0
    log: list[float] = field(default_factory=list)


class Trainer:
    def __init__(self, model: nn.Module, lr: float, accumulate: int) -> None:
        self.model, self.accumulate, self.state = model, accumulate, TrainerState()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.callbacks: list[Callable[[TrainerState], None]] = []

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], parts: int) -> float:
        loss = nn.functional.mse_loss(self.model(batch[0]), batch[1]) / parts
        loss.backward()
        return loss.item()

    def optimizer_step(self) -> None:
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.model.zero_grad(set_to_none=True)
        self.state.global_step += 1
        for callback in self.callbacks:
            callback(self.state)

    def fit(self, batches: list[tuple[torch.Tensor, torch.Tensor]], epochs: int) -> TrainerState:
        for _ in range(epochs):
            for first in range(0, len(batches), self.accumulate):
                window = batches[first : first + self.accumulate]
                self.state.log.append(sum(self.training_step(b, len(window)) for b in window))
                self.optimizer_step()
        return self.state


def main() -> None:
    torch.manual_seed(0)
    trainer = Trainer(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)), 1e-2, 4)
    seen: list[int] = []
    trainer.callbacks.append(lambda state: seen.append(state.global_step))
    state = trainer.fit([(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(9)], 2)
    print(f"{state.log[-1]:.4f} {seen}")


if __name__ == "__main__":
    main()
