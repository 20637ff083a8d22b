# bug: B292
import torch
from torch import nn


class Trainer:
    def __init__(self, model, steps):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=steps)

    def train_step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()


def main(steps=24):
    torch.manual_seed(0)
    trainer = Trainer(nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1)), steps)
    for _ in range(steps):
        x = torch.randn(16, 6)
        trainer.train_step(x, x.sum(1, keepdim=True))
    print(trainer.scheduler.get_last_lr())


main()
