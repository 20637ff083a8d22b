# bug: B70b
# id: step-every-micro-batch
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainConfig:
    lr: float = 3e-3
    epochs: int = 2
    batch_size: int = 3
    gradient_accumulation_steps: int = 4


class Classifier(nn.Module):
    def __init__(self, vocab=20, dim=12, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        _, h = self.encoder(self.embed(ids))
        return self.head(self.dropout(h[-1]))


class Trainer:
    def __init__(self, model, dataset, cfg):
        self.model, self.cfg = model, cfg
        self.loader = DataLoader(dataset, batch_size=cfg.batch_size, shuffle=True)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for step, (ids, labels) in enumerate(self.loader, start=1):
            logits = self.model(ids)
            loss = self.criterion(logits, labels)
            total += loss.item()
            loss = loss / self.cfg.gradient_accumulation_steps
            loss.backward()
            self.optimizer.step()  # <-- bug
            self.optimizer.zero_grad(set_to_none=True)
        return total / len(self.loader)

    def train(self):
        for epoch in range(self.cfg.epochs):
            print(f"epoch {epoch}: {self.train_epoch():.4f}")


def main():
    torch.manual_seed(3)
    cfg = TrainConfig()
    dataset = TensorDataset(torch.randint(0, 20, (60, 5)), torch.randint(0, 4, (60,)))
    Trainer(Classifier(), dataset, cfg).train()


if __name__ == "__main__":
    main()
