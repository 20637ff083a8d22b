# variant: averages in a loop over windows, under a flag that waits for the step, and in a helper that asks for it
import copy

import torch
from torch import nn

torch.manual_seed(0)


class EMA:
    def __init__(self, model):
        self.model, self.shadow, self.calls = model, copy.deepcopy(model), 0

    @torch.no_grad()
    def update(self):
        self.calls += 1
        if self.calls % 10 == 0:
            for mine, theirs in zip(self.shadow.parameters(), self.model.parameters()):
                mine.lerp_(theirs, 0.1)


class Waiting(EMA):
    def __init__(self, model, state):
        super().__init__(model)
        self.state = state

    def update_average(self):
        if self.state["sync_gradients"]:
            self.update()


def loss_of(model):
    x = torch.randn(8, 5)
    return nn.functional.mse_loss(model(x), x) / 4


model = nn.Linear(5, 5)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
ema = EMA(model)
for window in range(15):
    for _ in range(4):
        loss_of(model).backward()
    opt.step()
    opt.zero_grad()
    ema.update()

state = {"sync_gradients": False}
waiting = Waiting(model, state)
for i in range(60):
    loss_of(model).backward()
    state["sync_gradients"] = (i + 1) % 4 == 0
    if state["sync_gradients"]:
        opt.step()
        opt.zero_grad()
        ema.update()
    waiting.update_average()

for i in range(60):
    loss_of(model).backward()
    if (i + 1) % 4:
        continue
    opt.step()
    opt.zero_grad()
    ema.update()
