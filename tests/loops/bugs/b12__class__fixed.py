# bug: B12
import torch
from torch import nn


class Trainer:
    def __init__(self, model, accum=3, clip_value=0.02):
        self.model = model
        self.accum = accum
        self.clip_value = clip_value
        self.opt = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.8)

    def backward(self, loss):
        (loss / self.accum).backward()

    def update(self):
        torch.nn.utils.clip_grad_value_(self.model.parameters(), self.clip_value)
        self.opt.step()
        self.opt.zero_grad()

    def train(self, batches):
        pending = 0
        for x, y in batches:
            self.backward(nn.functional.mse_loss(self.model(x), y))
            pending += 1
            if pending == self.accum:
                self.update()
                pending = 0


torch.manual_seed(0)
data = [(torch.randn(4, 1, 5, 5), torch.randn(4, 1)) for _ in range(18)]
cnn = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(18, 1))
Trainer(cnn).train(data)
