# bug: B38
import torch
from torch import nn


class Trainer:
    def __init__(self, model, accum):
        self.model = model.bfloat16()
        self.accum = accum
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
        self.main_grads = [torch.zeros(p.shape) for p in model.parameters()]

    def micro_step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x.bfloat16()).float(), y) / self.accum
        loss.backward()
        for p, main in zip(self.model.parameters(), self.main_grads):
            main.add_(p.grad)
            p.grad = None

    def step(self):
        for p, main in zip(self.model.parameters(), self.main_grads):
            p.grad = main.to(p.dtype)
            main.zero_()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def fit(self, updates):
        for _ in range(updates):
            for _ in range(self.accum):
                self.micro_step(torch.randn(3, 6), torch.randint(0, 4, (3,)))
            self.step()


torch.manual_seed(1)
Trainer(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)), accum=24).fit(6)
