# variant: a warm-up gives the first step a rate of 0, and a group that is held at 0 stands beside the one that trains
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


class FineTuner:
    def __init__(self, encoder, classes, lr=0.05, warmup=4):
        self.model = nn.Sequential(encoder, nn.Linear(16, classes))
        groups = [
            {"params": encoder.parameters(), "lr": 0.0},  # not trained; the other way would be requires_grad_(False)
            {"params": self.model[1].parameters(), "lr": lr},
        ]
        self.optimizer = torch.optim.SGD(groups, lr=lr, momentum=0.9)
        self.scheduler = LambdaLR(self.optimizer, lambda step: min(1.0, step / warmup))

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()


torch.manual_seed(0)
tuner = FineTuner(nn.Sequential(nn.Linear(8, 16), nn.Tanh()), 3)
for _ in range(20):
    x = torch.randn(24, 8)
    tuner.step(x, x[:, :3].argmax(1))
