# bug: B232
# id: stepped-at-rate-zero
import torch
from torch import nn


def build_optimizer(net, lr, warmup):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min(i / warmup, 1.0))
    return optimizer, scheduler


class Regression:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))
        self.optimizer, self.scheduler = build_optimizer(self.net, lr=0.05, warmup=4)

    def fit(self, x, y, epochs=5):
        history = []
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(12):
                loss = nn.functional.mse_loss(self.net(x[rows]), y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()  # <-- bug
                history.append(loss.item())
        return history


torch.manual_seed(8)
x = torch.randn(60, 3)
history = Regression().fit(x, x[:, :1] - 0.5 * x[:, 1:2].abs())
print(f"{history[0]:.3f} -> {history[-1]:.3f}")
