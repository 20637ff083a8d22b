# bug: B112
# id: average-not-swapped-back
import copy

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 20), nn.Tanh())
        self.out = nn.Linear(20, 1)

    def forward(self, x):
        return self.out(self.encoder(x)).squeeze(-1)


class Trainer:
    def __init__(self, model, lr=0.05, decay=0.9, eval_every=10):
        self.model, self.decay, self.eval_every = model, decay, eval_every
        self.averaged = copy.deepcopy(model).eval()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.history: list[float] = []

    @torch.no_grad()
    def average(self):
        for old, new in zip(self.averaged.parameters(), self.model.parameters()):
            old.lerp_(new, 1 - self.decay)

    @torch.no_grad()
    def validate(self, x, y):
        self.model.eval()
        error = nn.functional.l1_loss(self.model(x), y).item()
        self.model.train()
        return error

    def fit(self, steps, held_out):
        for step in range(1, steps + 1):
            x = torch.randn(24, 5)
            loss = nn.functional.mse_loss(self.model(x), x.sin().sum(dim=1))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.average()
            if step % self.eval_every == 0:
                self.model.load_state_dict(self.averaged.state_dict())  # <-- bug
                self.history.append(self.validate(*held_out))  # <-- bug
        return loss.item()


torch.manual_seed(4)
xv = torch.randn(64, 5)
trainer = Trainer(Regressor())
print(f"{trainer.fit(40, (xv, xv.sin().sum(dim=1))):.4f}", [round(e, 3) for e in trainer.history])
