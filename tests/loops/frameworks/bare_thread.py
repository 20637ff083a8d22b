"""Training in a thread of its own, as programs with a window or a server do, while the main thread waits."""

import threading

import torch
from torch import nn


class Training(threading.Thread):
    def __init__(self) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.losses: list[float] = []

    def run(self) -> None:
        for _ in range(8):
            inputs, targets = torch.randn(8, 6), torch.randn(8, 1)
            loss = nn.functional.mse_loss(self.model(inputs), targets)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 0.1)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.losses.append(loss.item())


torch.manual_seed(0)
training = Training()
training.start()
training.join()
