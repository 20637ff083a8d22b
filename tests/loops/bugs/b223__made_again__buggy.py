# bug: B223
# id: schedule-moves-nothing
import torch
from torch import nn

torch.manual_seed(0)


def configured(model, decay=0.0):
    return torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=decay)


class Fitter:
    def __init__(self):
        self.net = nn.Linear(7, 1)
        self.optimizer = configured(self.net)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.8)  # <-- bug

    def fit(self, x, y, epochs=8):
        for _ in range(epochs):
            for a, b in zip(x.split(10), y.split(10)):
                self.optimizer.zero_grad()
                nn.functional.mse_loss(self.net(a), b).backward()
                self.optimizer.step()
            self.schedule.step()


fitter = Fitter()
stale = fitter.optimizer  # kept for its settings
fitter.optimizer = configured(fitter.net, decay=stale.defaults["eps"])
x = torch.randn(50, 7)
fitter.fit(x, x.sum(1, keepdim=True))
