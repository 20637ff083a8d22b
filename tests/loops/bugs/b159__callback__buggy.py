# bug: B159
# id: summand-without-graph
import torch
import torch.nn.functional as F
from torch import nn


class Callback:
    def on_loss(self, trainer, loss):
        return loss

    def on_epoch_end(self, trainer):
        pass


class Lasso(Callback):
    """Draws the first layer's weights to zero."""

    def __init__(self, weight):
        self.weight = weight

    @torch.no_grad()
    def penalty(self, model):
        return sum(p.abs().sum() for p in model[0].parameters())

    def on_loss(self, trainer, loss):
        size = self.penalty(trainer.model)  # <-- bug
        return loss + self.weight * size


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def fit(self, epochs):
        for epoch in range(epochs):
            x = torch.randn(32, 6)
            loss = F.mse_loss(self.model(x), x[:, :1])
            for callback in self.callbacks:
                loss = callback.on_loss(self, loss)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(0)
Trainer(nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)), [Callback(), Lasso(0.01)]).fit(12)
