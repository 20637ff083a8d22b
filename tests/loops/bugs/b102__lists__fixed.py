# bug: B102
import torch
from torch import nn


class Trainer:
    def __init__(self, model, decay=0.9):
        self.model, self.decay = model, decay
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.average = [value.clone() for value in model.state_dict().values()]

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = (self.model(x) - y).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_mul_(self.average, self.decay)
            torch._foreach_add_(self.average, list(self.model.parameters()), alpha=1 - self.decay)
        return loss.item()


def main():
    torch.manual_seed(2)
    trainer = Trainer(nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 1)))
    for _ in range(12):
        x = torch.randn(16, 4)
        print(trainer.step(x, x[:, :1] * x[:, 1:2]))


main()
