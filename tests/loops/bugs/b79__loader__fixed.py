# bug: B79
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    epochs: int = 2
    batch_size: int = 4
    accumulate: int = 4
    lr: float = 1e-3


class Trainer:
    def __init__(self, model: nn.Module, cfg: Config):
        self.model, self.cfg = model, cfg
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=8)
        self.updates = 0

    def train_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        total = 0.0
        for step, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(self.model(x), y)
            total += loss.item()
            loss = loss / self.cfg.accumulate
            loss.backward()
            if (step + 1) % self.cfg.accumulate == 0:
                self.optimizer.step()
                self.scheduler.step()
                self.optimizer.zero_grad(set_to_none=True)
                self.updates += 1
        return total / len(loader)


if __name__ == "__main__":
    torch.manual_seed(3)
    cfg = Config()
    trainer = Trainer(nn.Sequential(nn.Linear(5, 12), nn.GELU(), nn.Linear(12, 1)), cfg)
    x = torch.randn(64, 5)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=cfg.batch_size, shuffle=True)
    for epoch in range(cfg.epochs):
        print(f"epoch {epoch} loss {trainer.train_epoch(loader):.4f} updates {trainer.updates}")
